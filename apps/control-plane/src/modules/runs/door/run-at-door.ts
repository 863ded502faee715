/** What the agent of a Run may do at the door of its Dock, besides git. */
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Sealer } from '../../../sealing/index.ts'
import type { BootedDock } from '../../docks/index.ts'
import { openProviderKeys } from '../../keys/index.ts'
import { cleanText } from '../insert-run.ts'
import { costMicroUsd, type ModelUse } from './model-prices.ts'

export type RunAtDoor = {
  runId: string
  turnId: string
  organizationId: string
  /** False: the Environment passes no model on. */
  mayUseModels: boolean
}

export type RunDoor = {
  /** Returns the Run that drives this boot of a Dock and whose door is open, or null. */
  find(dock: BootedDock): Promise<RunAtDoor | null>
  /** Keeps what the agent says about its work. The last report counts. */
  report(run: RunAtDoor, text: string): Promise<void>
  /** Returns the organization's key of this provider of models, or null. */
  modelKey(run: RunAtDoor, provider: string): Promise<string | null>
  /** Returns the providers that the organization has keys of. */
  modelProviders(run: RunAtDoor): Promise<string[]>
  /** Returns what is left of the Run's budget, in millionths of a dollar. */
  budgetLeft(run: RunAtDoor): Promise<number>
  /** Counts what a request has used. */
  count(run: RunAtDoor, model: string, use: ModelUse): Promise<void>
}

export const reportBytesMax = 8 * 1024

export function createRunDoor({ db, sealer }: { db: Db; sealer: Sealer }): RunDoor {
  return {
    find: async ({ dockId, hostId, generation }) => {
      const { rows } = await sql<RunAtDoor>`
        select r.id as "runId", t.id as "turnId", r.organization_id as "organizationId",
          coalesce(v.pass_agents_credentials and not v.safe_for_third_parties, false) as "mayUseModels"
        from machines d join runs r on r.dock_id = d.id or r.id = d.run_id join run_turns t on t.run_id = r.id and t.number = r.turn
        left join environment_versions v on v.environment_id = d.environment_id and v.version = d.environment_version
        where d.id = ${dockId} and r.door_open and r.state in ('provisioning', 'working')
          and d.host_id = ${hostId} and d.generation = ${generation}`.execute(db)
      return rows[0] ?? null
    },
    report: async ({ turnId }, text) => {
      await sql`update run_turns set report = ${cleanText(text)} where id = ${turnId}`.execute(db)
    },
    modelKey: async ({ organizationId }, provider) => {
      const keys = await openProviderKeys({ db, sealer }, organizationId)
      return keys.find((each) => each.provider === provider)?.key ?? null
    },
    modelProviders: async ({ organizationId }) =>
      (await openProviderKeys({ db, sealer }, organizationId)).map(({ provider }) => provider),
    budgetLeft: async ({ runId }) => {
      const { rows } = await sql<{ left: number }>`
        select ((r.settings ->> 'budgetUsd')::numeric * 1000000
          - (select coalesce(sum(c.cost_micro_usd), 0) from run_turns c where c.run_id = r.id))::float8 as left
        from runs r where r.id = ${runId}`.execute(db)
      return rows[0]?.left ?? 0
    },
    count: async ({ turnId }, model, use) => {
      await sql`update run_turns set input_tokens = input_tokens + ${use.input}::bigint,
          output_tokens = output_tokens + ${use.output}::bigint,
          cost_micro_usd = cost_micro_usd + ${costMicroUsd(model, use)}::bigint
        where id = ${turnId}`.execute(db)
    },
  }
}
