/** Queries that read Runs. Queries for a caller join the caller's memberships, so they never find others' Runs. */
import type { Role, RunEventType, RunState } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import type { RunSettings } from './run-settings.ts'

export type RunRow = {
  id: string
  organizationId: string
  workspaceId: string
  installationId: string
  providerInstallationId: number
  repositoryId: number
  repo: string
  issueNumber: number
  createdBy: string
  executionTarget: 'dock' | 'fast'
  state: RunState
  dockId: string | null
  branch: string
  baseBranch: string
  baseCommit: string | null
  prNumber: number | null
  prUrl: string | null
  failureReason: string | null
  agent: string
  testCommand: string | null
  promptVersion: string | null
  completionStatus: string | null
  settings: RunSettings
  turn: number
  stopReason: string | null
  /** True if the reason to stop is that the pull request was merged. */
  isMerged: boolean
  commentId: number | null
  checkRunId: number | null
  createdAt: Date
  updatedAt: Date
}

export type ShownRun = RunRow & { events: { t: RunEventType; at: string }[] }

/** Columns of a {@link RunRow}, for the table alias `r`. */
export const runColumns: RawBuilder<unknown> = sql`r.id, r.organization_id as "organizationId",
  r.workspace_id as "workspaceId", r.installation_id as "installationId",
  r.provider_installation_id as "providerInstallationId", r.repository_id as "repositoryId", r.repo,
  r.issue_number as "issueNumber", r.created_by as "createdBy", r.execution_target as "executionTarget", r.state,
  r.dock_id as "dockId", r.branch, r.base_branch as "baseBranch", r.base_commit as "baseCommit",
  r.pr_number as "prNumber", r.pr_url as "prUrl", r.failure_reason as "failureReason", r.agent,
  r.test_command as "testCommand", r.prompt_version as "promptVersion", r.completion_status as "completionStatus",
  r.settings, r.turn, r.stop_reason as "stopReason", r.is_merged as "isMerged", r.comment_id as "commentId", r.check_run_id as "checkRunId",
  r.created_at as "createdAt", r.updated_at as "updatedAt"`

const events: RawBuilder<unknown> = sql`coalesce((
  select json_agg(json_build_object('t', e.type, 'at', to_char(e.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    order by e.id) from run_events e where e.run_id = r.id), '[]') as events`

/** Returns the Run if the user is a member of its organization, and if it is in this workspace (null: in any). */
export async function findVisibleRun(
  db: Db,
  userId: string,
  id: string,
  workspaceId: string | null,
): Promise<(ShownRun & { role: Role }) | null> {
  const { rows } = await sql<ShownRun & { role: Role }>`
    select ${runColumns}, ${events}, m.role from runs r
    join memberships m on m.organization_id = r.organization_id and m.user_id = ${userId}
    where r.id = ${id} and (${workspaceId}::uuid is null or r.workspace_id = ${workspaceId})`.execute(db)
  return rows[0] ?? null
}

/** Page size of {@link listWorkspaceRuns}. */
const listPage = 100

/** What {@link listWorkspaceRuns} lists. Null: no such condition. */
export type RunFilter = {
  organizationId: string
  workspaceId: string
  state: RunState | null
  repo: string | null
  limit: number | null
}

/** Yields the Runs of a workspace, newest first. Each page is read when it is asked for. */
export async function* listWorkspaceRuns(
  db: Db,
  { organizationId, workspaceId, state, repo, limit }: RunFilter,
): AsyncGenerator<ShownRun[]> {
  let last: ShownRun | undefined
  let left = limit ?? Number.POSITIVE_INFINITY
  do {
    const size = Math.min(listPage, left)
    const after = last ? sql`(r.created_at, r.id) < (${last.createdAt}, ${last.id}::uuid)` : sql`true`
    const { rows } = await sql<ShownRun>`
      select ${runColumns}, ${events} from runs r
      where r.workspace_id = ${workspaceId} and r.organization_id = ${organizationId} and ${after}
        and (${state}::text is null or r.state = ${state}) and (${repo}::text is null or r.repo = ${repo})
      order by r.created_at desc, r.id desc limit ${size}`.execute(db)
    if (rows.length > 0) yield rows
    left -= rows.length
    last = rows.length < listPage ? undefined : rows.at(-1)
  } while (last && left > 0)
}

/** Returns the Run, or null. For internal work without a caller: it checks no membership. */
export async function findRun(db: Db, organizationId: string, id: string): Promise<RunRow | null> {
  const { rows } = await sql<RunRow>`select ${runColumns} from runs r
    where r.id = ${id} and r.organization_id = ${organizationId}`.execute(db)
  return rows[0] ?? null
}
