/** The machine of a fast Run: claimed for a turn, and kept for a while for the next one. */
import { type RawBuilder, sql } from 'kysely'
import { retentionEnabled } from '../../accounts/index.ts'
import { HostRefused, HostUnreachable } from '../../hosts/index.ts'
import { insertRunEvents } from '../move-run.ts'
import type { RunRow } from '../run-store.ts'
import { hadOutsiderText } from '../turn-store.ts'
import { type MachineTarget, ownerOf, type WantedTurn } from './machine-owner.ts'
import { runFailed } from './run-ended.ts'
import type { TurnParts } from './turn-context.ts'

/** How many machines may fail to start before the turn fails. */
const failedMax = 2

/** SQL that locks the Run if it still wants a machine without a Dock. */
const lockWanted = (
  run: RunRow,
  after: RawBuilder<boolean>,
): RawBuilder<unknown> => sql`select r.id from runs r
  where ${after} and r.id = ${run.id} and r.execution_target = 'fast' and r.stop_reason is null
    and r.state in ('pending', 'provisioning', 'working') for update`

/** SQL that moves the Run on once the relation `born` has its machine, and records that it was made for this turn. */
const takeMachine = (run: RunRow, now: Date): RawBuilder<unknown>[] => [
  sql`run as (update runs r set state = 'provisioning', updated_at = ${now} from born
    where r.id = ${run.id} and r.state = 'pending' returning r.id)`,
  sql`run_told as (${insertRunEvents(sql`run`, ['provisioning'], now)})`,
  sql`turn as (update run_turns t set has_new_machine = true from born
    where t.run_id = born.run_id and t.number = born.turn)`,
]

/** Returns a function that claims and boots the machine. It returns null once that is done, or why to try it again. */
export function bringUpFastMachine(
  parts: TurnParts,
  { id: operationId }: MachineTarget,
  { turn }: WantedTurn,
): (run: RunRow) => Promise<string | null> {
  const { db, machines, image, isFastOn } = parts
  let failed = 0
  return async (run) => {
    const { id: runId, organizationId, workspaceId } = run
    let machine = await machines.find(organizationId, runId)
    // Under zero data retention, nothing of a turn stays in a machine for the next one.
    if (machine && machine.turn < turn && (await retentionEnabled(db, organizationId))) {
      await machines.end(machine)
      machine = null
    }
    if (!machine) {
      if (!isFastOn)
        return 'Fast Runs are off on this instance. Promote the Run, or change the target of the installation.'
      await machines.claim(ownerOf(run, 'createDock'), {
        runId,
        organizationId,
        workspaceId,
        turn,
        image,
        environment: run.settings.environment,
        // A later machine gets the session, which may repeat what outsiders wrote.
        noEnv: await hadOutsiderText(db, runId),
        given: (after) => lockWanted(run, after),
        also: (now) => takeMachine(run, now),
      })
      machine = await machines.find(organizationId, runId)
      if (!machine) return 'Its machine has ended.'
    }
    if (machine.state === 'running') return null
    try {
      await machines.boot(machine, operationId)
      return null
    } catch (error) {
      if (!(error instanceof HostRefused || error instanceof HostUnreachable)) throw error
      await machines.end(machine)
      failed += 1
      if (failed === failedMax) throw runFailed('The machine of the Run did not start.', { cause: error })
      return 'Its machine did not start.'
    }
  }
}
