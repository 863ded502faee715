/** GET /v1/github/runs, GET /v1/github/runs/:id */
import type { Role, RouteQuery, Run, routes } from '@dock/contract'
import type { Member, Visitor } from '../accounts/index.ts'
import type { RunContext } from './run-context.ts'
import { findVisibleRun, listWorkspaceRuns, type ShownRun } from './run-store.ts'
import { viewRun } from './run-view.ts'

type ListQuery = RouteQuery<(typeof routes)['listRuns']>
export type OfWorkspace = { workspaceId?: string | undefined }

/** Yields the Runs of the workspace page by page. */
export async function* listRuns(
  { db }: Pick<RunContext, 'db'>,
  { organizationId }: Member,
  query: ListQuery,
): AsyncGenerator<Run[]> {
  const { workspaceId, state = null, repo = null, limit = null } = query
  for await (const page of listWorkspaceRuns(db, { organizationId, workspaceId, state, repo, limit }))
    yield page.map(viewRun)
}

/** Returns the Run if the caller may see it and it is in the named workspace. Throws `run_not_found`. */
export async function requireRun(
  { db }: Pick<RunContext, 'db'>,
  caller: Visitor,
  id: string,
  { workspaceId }: OfWorkspace,
): Promise<ShownRun & { role: Role }> {
  return caller.admit(await findVisibleRun(db, caller.userId, id, workspaceId ?? null))
}

export async function readRun(
  context: Pick<RunContext, 'db'>,
  caller: Visitor,
  id: string,
  query: OfWorkspace,
): Promise<Run> {
  return viewRun(await requireRun(context, caller, id, query))
}
