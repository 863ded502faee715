/** Queries that read Runs. Queries for a caller join the caller's memberships, so they never find others' Runs. */
import type { Role, RunEventType, RunState } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { type Renamed, renamedColumns } from '../../database/columns.ts'
import type { Db } from '../../database/database.ts'
import type { RunSettings } from './run-settings.ts'

const runFields = {
  id: 'id',
  organizationId: 'organization_id',
  workspaceId: 'workspace_id',
  installationId: 'installation_id',
  providerInstallationId: 'provider_installation_id',
  repositoryId: 'repository_id',
  repo: 'repo',
  issueNumber: 'issue_number',
  createdBy: 'created_by',
  executionTarget: 'execution_target',
  state: 'state',
  dockId: 'dock_id',
  branch: 'branch',
  baseBranch: 'base_branch',
  baseCommit: 'base_commit',
  prNumber: 'pr_number',
  prUrl: 'pr_url',
  failureReason: 'failure_reason',
  agent: 'agent',
  testCommand: 'test_command',
  promptVersion: 'prompt_version',
  completionStatus: 'completion_status',
  settings: 'settings',
  turn: 'turn',
  stopReason: 'stop_reason',
  // True if the reason to stop is that the pull request was merged.
  isMerged: 'is_merged',
  commentId: 'comment_id',
  checkRunId: 'check_run_id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const

export type RunRow = Omit<Renamed<'runs', typeof runFields>, 'settings'> & { settings: RunSettings }

export type ShownRun = RunRow & { events: { t: RunEventType; at: string }[] }

/** Columns of a {@link RunRow}, for the table alias `r`. */
export const runColumns = renamedColumns('r', runFields)

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
