import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import { run, runCost, runLogPart, runState } from '../objects/runs.ts'
import { route } from '../route.ts'

const runParams = z.object({ id: field.uuid })
const runQuery = z.object({ workspaceId: field.uuid.optional() })

/** `owner/name`. */
const repoName = z
  .string()
  .min(3)
  .max(limits.runs.repoLengthMax)
  .regex(/^[^/\s]+\/[^/\s]+$/, 'must be owner/name')

const ofRun = {
  tag: 'GitHub Runs',
  access: { credentials: 'caller', scope: { run: 'params.id' }, role: 'member' },
  params: runParams,
  query: runQuery,
  notFound: 'run_not_found',
} as const

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
    query: z.object({
      workspaceId: field.uuid,
      state: runState.optional(),
      repo: repoName.optional(),
      /** The newest so many. Default: all. */
      limit: field.queryInteger(1, limits.runs.listLimitMax).optional(),
    }),
    response: z.array(run),
    streamedList: true,
    errors: ['validation_error', 'installation_not_found'],
  }),
  readRun: route({
    ...ofRun,
    method: 'GET',
    path: '/v1/github/runs/:id',
    summary: 'Read a Run',
    description: 'Shows its state, branch and pull request.',
    response: run,
    errors: ['validation_error', 'run_not_found'],
  }),
  startRun: route({
    method: 'POST',
    path: '/v1/github/runs',
    summary: 'Start a Run on an issue',
    description:
      'The repository must be linked to the workspace. The machine belongs to the person who linked it, and may hold what only admins may see, so only admins start Runs by hand. Send an `idempotency-key`, so that a repeated request starts no second Run.',
    tag: 'GitHub Runs',
    extension: true,
    access: {
      credentials: 'caller',
      scope: { workspace: 'body.workspaceId' },
      role: 'admin',
      outsider: 'installation_not_found',
    },
    status: 201,
    headers: ['idempotency-key'],
    body: z.strictObject({
      workspaceId: field.uuid,
      repo: repoName,
      issueNumber: z.int().min(1).max(2_147_483_647),
      /** What the agent shall do. */
      instruction: field.textOfBytes(0, limits.runs.instructionBytesMax).default(''),
    }),
    response: run,
    errors: [
      'validation_error',
      'installation_not_found',
      'not_found',
      'conflict',
      'fast_run_disabled',
      'fast_run_concurrency_exceeded',
      'github_unavailable',
      'unavailable',
    ],
  }),
  promoteRun: route({
    ...ofRun,
    method: 'POST',
    path: '/v1/github/runs/:id/promote',
    summary: 'Promote a Fast Run to a Run in a Dock',
    description:
      'A Fast Run works in a machine without a Dock. Promoting it makes a Dock of that machine, in place: with the same id and processes. Commands work once the turn has ended. A Run that still waits for its machine gets a Dock instead. The Dock belongs to the caller. Every other Run is not promotable.',
    response: run,
    errors: [
      'validation_error',
      'run_not_found',
      'run_not_promotable',
      'fast_run_disabled',
      'fast_run_concurrency_exceeded',
      'github_unavailable',
      'environment_not_found',
      'environment_secrets_admin_only',
      'connector_admin_only',
      'subscription_required',
      'budget_exceeded',
      'concurrency_exceeded',
    ],
  }),
  stopRun: route({
    ...ofRun,
    method: 'POST',
    path: '/v1/github/runs/:id/stop',
    summary: 'Stop a Run',
    description:
      'Ends the agent and everything that it started. Nothing is pushed afterwards. What was pushed before stays. A Run that has ended is returned as it is.',
    extension: true,
    response: run,
    // `forbidden`: the end deletes data that the caller may not delete, because retention is on.
    errors: ['validation_error', 'run_not_found', 'forbidden'],
  }),
  readRunLog: route({
    ...ofRun,
    method: 'GET',
    path: '/v1/github/runs/:id/log',
    summary: "Read the agent's log from an offset on",
    description: `The log may show what the Environment passes on, so only admins may read it. With \`waitSeconds\`, a request at the end of the log waits for more. Each turn has a log of its own, of at most ${limits.runs.logBytesMax} bytes.`,
    extension: true,
    access: { ...ofRun.access, role: 'admin' },
    query: runQuery.extend({
      /** Default: the latest turn. */
      turn: field.queryInteger(1, limits.runs.turnsMax).optional(),
      offset: field.queryInteger(0, Number.MAX_SAFE_INTEGER).default(0),
      waitSeconds: field.queryInteger(0, limits.runs.waitSecondsMax).default(0),
    }),
    response: runLogPart,
    errors: ['validation_error', 'run_not_found'],
  }),
  readRunCost: route({
    ...ofRun,
    method: 'GET',
    path: '/v1/github/runs/:id/cost',
    summary: 'Read what a Run has cost',
    description: 'Counts the tokens of all turns at the door of the model.',
    extension: true,
    response: runCost,
    errors: ['validation_error', 'run_not_found'],
  }),
} as const
