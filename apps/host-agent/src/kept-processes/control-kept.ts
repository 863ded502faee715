/** What can be done with a kept process: wait for it, signal it, resize its terminal. */

import { waitAtMost } from '@dock/foundation'
import type { KeptProcess as KeptProcessView, SignalKeptProcess, TerminalSize } from '@dock/host-protocol'
import { AgentRefusal } from '../docks/agent-refusal.ts'
import type { DockState } from '../docks/dock-state.ts'
import { readKept, requireKept } from './kept-processes.ts'

/** Returns the process once it has ended, or as it is after `ms`. */
export async function waitForKept(dock: DockState, processId: string, ms: number): Promise<KeptProcessView> {
  await waitAtMost(dock.parts.clock, ms, requireKept(dock, processId).ended)
  return readKept(dock, processId)
}

/** Does nothing if the process has ended. */
export async function signalKept(
  dock: DockState,
  processId: string,
  { signal, target }: SignalKeptProcess,
): Promise<void> {
  const { record, sandbox } = requireKept(dock, processId)
  if (sandbox && record.reference)
    await dock.parts.driver.signalProcess?.(sandbox, record.reference, signal, target)
}

/** Throws `conflict` if the process has no terminal. Does nothing after its end. */
export async function resizeKept(dock: DockState, processId: string, size: TerminalSize): Promise<void> {
  const process = requireKept(dock, processId)
  const { record, sandbox } = process
  if (!record.pty) throw new AgentRefusal('conflict', 'the process has no terminal')
  if (!sandbox || !record.reference) return
  await dock.parts.driver.resizeProcess?.(sandbox, record.reference, size.cols, size.rows)
  // It may have ended meanwhile. Its end must stay in the record.
  if (process.record.end) return
  process.record = { ...process.record, pty: size }
  await dock.parts.keptRecords.write(dock.dockId, process.record)
}
