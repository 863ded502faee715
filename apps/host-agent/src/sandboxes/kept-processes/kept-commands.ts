/** The commands on the kept processes of one Dock. */
import type * as protocol from '@dock/host-protocol'
import type { DockState } from '../dock-state.ts'
import { resizeKept, signalKept, waitForKept } from './control-kept.ts'
import { countRunning, isRunning } from './kept-process.ts'
import { listKept, readKept, requireKept } from './kept-processes.ts'
import { endKept, startKept } from './start-kept.ts'

export type KeptCommands = {
  /** Starts a process that outlives this agent. See {@link startKept}. */
  start(request: protocol.StartKeptProcess): Promise<protocol.KeptProcess>
  list(): Promise<protocol.KeptProcess[]>
  /** Throws `not_found`, like all that follow. */
  read(processId: string): Promise<protocol.KeptProcess>
  require(processId: string): void
  /** Returns the process once it has ended, or as it is after `ms`. */
  wait(processId: string, ms: number): Promise<protocol.KeptProcess>
  signal(processId: string, signal: protocol.SignalKeptProcess): Promise<void>
  resize(processId: string, size: protocol.TerminalSize): Promise<void>
  /** The keeper died, and with it the pipes of all processes. Ends them. */
  endAll(): void
  /** The number of running processes for the inventory, or nothing for a Dock without processes. */
  report(): Pick<protocol.RuntimeReport, 'processes'>
}

export function createKeptCommands(dock: DockState): KeptCommands {
  return {
    start: (request) => startKept(dock, request),
    list: () => listKept(dock),
    read: (processId) => readKept(dock, processId),
    require: (processId) => void requireKept(dock, processId),
    wait: (processId, ms) => waitForKept(dock, processId, ms),
    signal: (processId, signal) => signalKept(dock, processId, signal),
    resize: (processId, size) => resizeKept(dock, processId, size),
    endAll: () => {
      for (const process of dock.kept.values())
        if (isRunning(process) && process.sandbox) endKept(dock, process, process.sandbox, 'keeper_lost')
    },
    report: () => (dock.kept.size > 0 ? { processes: countRunning(dock.kept) } : {}),
  }
}
