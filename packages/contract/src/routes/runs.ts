import * as z from 'zod'
import * as field from '../fields.ts'
import { run, runState } from '../objects/runs.ts'
import { route } from '../route.ts'

const runParams = z.object({ id: field.uuid })
const runQuery = z.object({ workspaceId: field.uuid.optional() })

export const runRoutes = {
  listRuns: route({
    method: 'GET',
    path: '/v1/github/runs',
    summary: 'List the Runs of a workspace, newest first',
    description: 'A Run is the work of a coding agent on one issue of a repository.',
    tag: 'GitHub Runs',
    access: {
      credentials: 'caller',
      scope: { workspace: 'query.workspaceId' },
      role: 'member',
      outsider: 'installation_not_found',
    },
    query: z.object({ workspaceId: field.uuid, state: runState.optional() }),
    response: z.array(run),
    errors: ['validation_error', 'installation_not_found'],
  }),
  readRun: route({
    method: 'GET',
    path: '/v1/github/runs/:id',
    summary: 'Read a Run',
    description: 'Shows its state, branch and pull request.',
    tag: 'GitHub Runs',
    access: { credentials: 'caller', scope: { run: 'params.id' }, role: 'member' },
    params: runParams,
    query: runQuery,
    response: run,
    errors: ['validation_error', 'run_not_found'],
    notFound: 'run_not_found',
  }),
  promoteRun: route({
    method: 'POST',
    path: '/v1/github/runs/:id/promote',
    summary: 'Promote a Fast Run to a Run in a Dock',
    description: 'A Fast Run has no Dock of its own. Promote it if it needs one.',
    tag: 'GitHub Runs',
    access: { credentials: 'caller', scope: { run: 'params.id' }, role: 'member' },
    params: runParams,
    query: runQuery,
    response: run,
    errors: [
      'validation_error',
      'run_not_found',
      'run_not_promotable',
      'fast_run_disabled',
      'fast_run_concurrency_exceeded',
      'github_unavailable',
    ],
    notFound: 'run_not_found',
  }),
} as const
