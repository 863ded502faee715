/**
 * Runs a Dock's setup script once, after its first start. The job does not lock the Dock, so users can use, stop and
 * delete it meanwhile. The job is an operation with its own row: if this process dies, another one rejoins the run on
 * the host.
 */
import type { Clock } from '@dock/foundation'
import { newOperationId } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import * as z from 'zod'
import type { Db } from '../../../database/database.ts'
import {
  firstVersion,
  insertOperation,
  LeaseLost,
  OperationBlocked,
  type OperationRow,
  type Saga,
} from '../../../engine/index.ts'
import type { Sealer } from '../../../sealing/index.ts'
import { type HostGateway, HostRefused, type SetupOutcome } from '../../hosts/index.ts'
import { completeOperation, holdDock, moved } from '../core/dock-commit.ts'
import { explainFailure } from '../core/explain-failure.ts'
import { isTransientHostFailure } from '../core/is-transient-host-failure.ts'
import { organizationOwner } from '../core/sealed-columns.ts'
import type { SecretsOf } from '../environment/variables/dock-secrets.ts'
import { maskSecrets } from '../environment/variables/mask-secrets.ts'

/** Time limit of the setup script. */
export const setupMinutesMax = 30

const placeOf = (dockId: string) => ({ table: 'docks', column: 'setup_script_sealed', rowId: dockId })

/** Seals the script for storage. Returns null if there is none. */
export async function sealSetupScript(
  sealer: Sealer,
  organizationId: string,
  dockId: string,
  script: string | undefined,
): Promise<string | null> {
  return script === undefined || script === ''
    ? null
    : sealer.seal(organizationOwner(organizationId), placeOf(dockId), script)
}

const setupData = z.strictObject({
  dataVersion: firstVersion,
  /**
   * How the script ended; `error` is null if it succeeded. Null if the setup was already over. It is kept until it is
   * published, so that a retry, also by another process, can publish it.
   */
  ending: z.strictObject({ error: z.string().nullable() }).nullable().optional(),
})
type SetupData = z.infer<typeof setupData>
type SetupEnding = NonNullable<SetupData['ending']>
type SetupOperation = OperationRow<SetupData>

const noResult: SetupData = { dataVersion: 1 }

/** CTE `setup` for the commit that makes the Dock ready after this boot: inserts the job, which any process may take. */
export function insertSetup(boot: OperationRow, now: Date): RawBuilder<unknown> {
  const job: SetupOperation = {
    id: newOperationId(),
    organizationId: boot.organizationId,
    kind: 'setup',
    targetType: 'dock',
    targetId: boot.targetId,
    dockId: null,
    hostId: boot.hostId,
    generation: boot.generation,
    status: 'pending',
    step: null,
    undoing: false,
    data: noResult,
    cause: boot.cause,
    error: null,
  }
  return sql`setup as (${insertOperation(job, { from: moved, host: sql`host_id`, lease: null, now })})`
}

/**
 * Returns assignments of the setup columns for a completed stop. A script that was running is marked as failed. With
 * `wiped`, an earlier error output is cleared.
 */
export function setupEndedByStop(wiped: boolean): RawBuilder<unknown> {
  return sql`setup_script_sealed = null,
  setup_error = case when d.setup_status = 'running' then 'stopped' when ${wiped} then null else d.setup_error end,
  setup_status = case when d.setup_status = 'running' then 'failed' else d.setup_status end`
}

type SetupParts = {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
  sealer: Sealer
  secretsOf: SecretsOf
}

const explainOutcome = ({ exitCode, timedOut, output }: SetupOutcome): string => {
  const reason = timedOut ? `timed out after ${setupMinutesMax} minutes` : `exit code ${exitCode}`
  return output.trim() === '' ? reason : `${reason}\n${output.trim()}`
}

export function createSetupSaga(parts: SetupParts): Saga<SetupData> {
  const { db, clock, gateway, owner, sealer, secretsOf } = parts

  /** Returns the script, or null if the Dock's setup is already over. */
  const findScript = async ({ targetId, organizationId }: OperationRow): Promise<string | null> => {
    const result = await sql<{ sealed: string | null }>`select setup_script_sealed as sealed from docks
      where id = ${targetId} and organization_id = ${organizationId} and setup_status = 'running'`.execute(db)
    const sealed = result.rows[0]?.sealed ?? null
    return sealed && sealer.open(organizationOwner(organizationId), placeOf(targetId), sealed)
  }

  /** Explains why the host no longer has the sandbox. */
  const explainEnd = async ({ targetId, organizationId }: OperationRow): Promise<string> => {
    const result = await sql<{ state: string }>`select state from docks
      where id = ${targetId} and organization_id = ${organizationId}`.execute(db)
    const state = result.rows[0]?.state
    const stopped = state === undefined || state === 'archiving' || state === 'archived'
    return stopped ? 'stopped' : 'The Dock ended while its setup script ran.'
  }

  const run = async (operation: SetupOperation, script: string): Promise<SetupEnding> => {
    const { id, targetId: dockId, organizationId, generation } = operation
    const hostId = operation.hostId!
    const timeoutMs = setupMinutesMax * 60_000
    // Secrets are read before and after the run, because an upgrade of the Environment may replace them meanwhile.
    const before = await secretsOf({ organizationId, dockId })
    try {
      const outcome = await gateway.setup(
        { hostId, dockId },
        { operationId: id, generation, script, timeoutMs },
      )
      if (outcome.exitCode === 0 && !outcome.timedOut) return { error: null }
      const after = await secretsOf({ organizationId, dockId })
      return { error: maskSecrets(maskSecrets(explainOutcome(outcome), before), after) }
    } catch (error) {
      if (isTransientHostFailure(error))
        throw new OperationBlocked(hostId, 'the host cannot run the setup script now', { cause: error })
      if (!(error instanceof HostRefused)) throw error
      const isGone = ['not_running', 'not_found', 'stale_generation'].includes(error.code)
      return { error: isGone ? await explainEnd(operation) : 'The host could not run the setup script.' }
    }
  }

  const publish = async (operation: SetupOperation, ending: SetupEnding | null): Promise<void> => {
    const now = clock.now()
    const error = ending?.error ?? null
    // The output belongs to the tenant, so it is stored in the Dock's row only, not in the operation.
    const published = { ...operation, data: noResult }
    const result = await sql<{ id: string }>`
      with ${holdDock(operation.targetId)}, gate as (${completeOperation(published, owner, operation.error, now)}),
      changed as (update docks set setup_script_sealed = null, setup_error = ${error},
          setup_status = ${error === null ? 'done' : 'failed'}, updated_at = ${now}
        where id = ${operation.targetId} and organization_id = ${operation.organizationId}
          and setup_status = 'running' and ${ending !== null} and exists (select 1 from gate))
      select id from gate`.execute(db)
    if (result.rows.length === 0) throw new LeaseLost(operation.id)
  }

  return {
    kind: 'setup',
    data: setupData,
    explain: explainFailure,
    steps: [
      {
        name: 'run',
        do: async (operation) => {
          const script = await findScript(operation)
          operation.data.ending = script === null ? null : await run(operation, script)
        },
      },
    ],
    finish: (operation) => {
      const { ending } = operation.data
      return publish(
        operation,
        ending === undefined ? { error: 'The result of the setup script is unknown.' } : ending,
      )
    },
    fail: (operation) => publish(operation, { error: 'The host could not run the setup script.' }),
  }
}
