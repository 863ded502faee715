/** Saves a new Run with its first turn. */
import { randomBytes } from 'node:crypto'
import { newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import type { RunTrigger } from '../github/index.ts'
import { insertRunEvents } from './move-run.ts'
import type { RunSettings } from './run-settings.ts'
import { insertTurnOperation } from './saga/turn-operation.ts'

/** What a Run takes from its installation. */
export type RunPlan = {
  createdBy: string
  executionTarget: 'dock' | 'fast'
  agent: string
  testCommand: string | null
  settings: RunSettings
}

/** Returns null if the installation is gone. */
export type PlanOf = (db: Db, installationId: string) => Promise<RunPlan | null>

/** PostgreSQL stores no NUL, neither in text nor escaped in JSON. */
export function cleanText(text: string): string {
  return text.replaceAll('\0', '\ufffd').replaceAll('\\u0000', '\\ufffd')
}

/** Returns the Run whose first turn this trigger began, or null. */
export async function findRunOfKey(db: Db, repositoryId: number, triggerKey: string): Promise<string | null> {
  const { rows } = await sql<{ id: string }>`select run_id as id from run_turns
    where repository_id = ${repositoryId} and trigger_key = ${triggerKey}`.execute(db)
  return rows[0]?.id ?? null
}

/** SQL that inserts a turn of the Run whose `id` the relation has. The trigger's key admits it once. */
const insertTurn = (
  { id, number, trigger, now }: { id: string; number: number; trigger: RunTrigger; now: Date },
  relation: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  insert into run_turns (id, run_id, number, repository_id, trigger_key, actor, instruction, text, has_outsider_text, created_at)
  select ${id}::uuid, m.id, ${number}::int, ${trigger.repository.repositoryId}::bigint, ${trigger.key}, ${trigger.actor.login},
    ${cleanText(trigger.instruction)}, ${cleanText(JSON.stringify(trigger.text))}::jsonb, ${trigger.text.hasOutsiderText}::boolean,
    ${now}::timestamptz from ${relation} m`

/** Saves a Run with its first turn. Returns null if the issue has a live Run or the key was used before. */
export async function insertRun(
  tx: Tx,
  trigger: RunTrigger,
  plan: RunPlan,
  now: Date,
): Promise<string | null> {
  const { repository, issueNumber } = trigger
  const [runId, turnId] = [newUuid(), newUuid()]
  const { organizationId } = repository
  const branch = `dock/issue-${issueNumber}-${randomBytes(3).toString('hex')}`
  const { rows } = await sql`
    with born as (insert into runs (id, organization_id, workspace_id, installation_id, provider_installation_id,
        repository_id, repo, issue_number, created_by, execution_target, state, branch, base_branch, agent, test_command,
        settings, created_at, updated_at)
      select ${runId}::uuid, ${organizationId}::uuid, ${repository.workspaceId}::uuid, ${repository.installationId}::uuid,
        ${repository.providerInstallationId}::bigint, ${repository.repositoryId}::bigint, ${repository.fullName},
        ${issueNumber}::int, ${plan.createdBy}::uuid, ${plan.executionTarget}, 'pending', ${branch},
        ${repository.defaultBranch}, ${plan.agent}, ${plan.testCommand}, ${JSON.stringify(plan.settings)}::jsonb,
        ${now}::timestamptz, ${now}::timestamptz
      where not exists (select 1 from run_turns t
        where t.repository_id = ${repository.repositoryId} and t.trigger_key = ${trigger.key})
      on conflict (repository_id, issue_number) where state in ('pending', 'provisioning', 'working', 'pr_opened')
        do nothing returning id),
    turn as (${insertTurn({ id: turnId, number: 1, trigger, now }, sql`born`)}),
    told as (${insertRunEvents(sql`born`, ['queued'], now)}),
    intent as (${insertTurnOperation({ runId, organizationId, turnId, turn: 1 }, sql`born`, now)})
    select id from born`.execute(tx)
  return rows.length === 0 ? null : runId
}
