/** The end of a turn in its machine: the door is closed, and every process of the agent is ended. */
import { isReadyDockState } from '@dock/contract'
import { sql } from 'kysely'
import { findDock } from '../../docks/index.ts'
import { HostRefused } from '../../hosts/index.ts'
import { phaseId, testsPhase } from '../machine/phase-id.ts'
import type { Machine } from '../machine/run-in-dock.ts'
import { endAllScript } from '../machine/scripts.ts'
import { findRun } from '../run-store.ts'
import { machineOf, pause, type TurnParts } from './turn-context.ts'
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
    const machine = await findMachine(parts, operation)
    if (!machine) return
    try {
      return await endProcesses(parts, machine, operation.data.turnId)
    } catch (error) {
      if (clock.now().getTime() > until) {
        logger.error({ runId: operation.targetId, err: error }, 'could not end the processes of a Run')
        return
      }
      await pause(parts, retryMs)
    }
  }
}

/** Returns the Run's machine if something may run in it. Its host may be silent for a moment. */
const findMachine = async (
  { db, machines }: TurnParts,
  { organizationId, targetId }: TurnOperation,
): Promise<Machine | null> => {
  // First the machine without a Dock: a promotion may make a Dock of it meanwhile, and not the reverse.
  const machine = await machines.find(organizationId, targetId)
  const run = await findRun(db, organizationId, targetId)
  if (machine?.state === 'running' && run?.dockId === null) return machineOf(machine)
  const dock = run?.dockId ? await findDock(db, organizationId, run.dockId) : null
  const isUp = dock && (isReadyDockState(dock.state) || dock.state === 'unreachable')
  return isUp && dock.hostId !== null
    ? { hostId: dock.hostId, dockId: dock.id, generation: dock.generation }
    : null
}

const endProcesses = async (
  { gateway }: TurnParts,
  { hostId, dockId, generation }: Machine,
  turnId: string,
): Promise<void> => {
  for (const processId of [turnId, phaseId(turnId, testsPhase)])
    try {
      await gateway.signalKept({ hostId, dockId, processId }, { signal: 'KILL', target: 'tree' })
    } catch (error) {
      // The turn ended before this one started.
      if (!(error instanceof HostRefused && error.code === 'not_found')) throw error
    }
  await gateway.exec(
    { hostId, dockId },
    { generation, command: endAllScript, cwd: '/', env: {}, timeoutMs: 10_000, outputLimitBytes: 1024 },
  )
}
