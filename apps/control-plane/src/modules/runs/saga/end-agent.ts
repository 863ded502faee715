/** The end of a turn in its machine: the door is closed, and every process of the agent is ended. */
import { isReadyDockState } from '@dock/contract'
import { sql } from 'kysely'
import { type DockRow, findDock } from '../../docks/index.ts'
import { HostRefused } from '../../hosts/index.ts'
import { phaseId, testsPhase } from '../machine/phase-id.ts'
import { endAllScript } from '../machine/scripts.ts'
import { findRun } from '../run-store.ts'
import { pause, type TurnParts } from './turn-context.ts'
import type { TurnOperation } from './turn-data.ts'

/** How long a host may fail to end the processes. The agent's own timeout ends what is left. */
const patienceMs = 60_000
const retryMs = 1_000

/** Closes the door: no push of the Run's machine passes any more. */
export async function closeDoor({ db }: Pick<TurnParts, 'db'>, runId: string): Promise<void> {
  await sql`update runs set door_open = false where id = ${runId} and door_open`.execute(db)
}

/** Ends the agent and everything that runs as the Dock's user. A machine that is gone needs no end. */
export async function endAgent(parts: TurnParts, operation: TurnOperation): Promise<void> {
  const { clock, logger } = parts
  await closeDoor(parts, operation.targetId)
  const until = clock.now().getTime() + patienceMs
  for (;;) {
    const dock = await findMachine(parts, operation)
    if (!dock) return
    try {
      return await endProcesses(parts, dock, operation.data.turnId)
    } catch (error) {
      if (clock.now().getTime() > until) {
        logger.error({ runId: operation.targetId, err: error }, 'could not end the processes of a Run')
        return
      }
      await pause(parts, retryMs)
    }
  }
}

type Up = DockRow & { hostId: string }

/** Returns the Run's Dock if something may run in it. Its host may be silent for a moment. */
const findMachine = async (
  { db }: TurnParts,
  { organizationId, targetId }: TurnOperation,
): Promise<Up | null> => {
  const run = await findRun(db, organizationId, targetId)
  const dock = run?.dockId ? await findDock(db, organizationId, run.dockId) : null
  const isUp = dock && (isReadyDockState(dock.state) || dock.state === 'unreachable')
  return isUp && dock.hostId !== null ? { ...dock, hostId: dock.hostId } : null
}

const endProcesses = async (
  { gateway }: TurnParts,
  { hostId, id: dockId, generation }: Up,
  turnId: string,
): Promise<void> => {
  for (const processId of [turnId, phaseId(turnId, testsPhase)])
    try {
      await gateway.signalKept({ hostId, dockId, processId }, { signal: 'KILL', target: 'tree' })
    } catch (error) {
      // The turn ended before this one started.
      if (!(error instanceof HostRefused && error.code === 'not_found')) throw error
    }
  await gateway.exec(hostId, dockId, {
    ...{ generation, command: endAllScript, cwd: '/', env: {} },
    ...{ timeoutMs: 10_000, outputLimitBytes: 1024 },
  })
}
