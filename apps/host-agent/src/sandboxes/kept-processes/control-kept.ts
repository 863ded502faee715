/** What can be done with a kept process: wait for it, signal it, resize its terminal. */

import { waitAtMost } from '@dock/foundation'
import type { KeptProcess as KeptProcessView, SignalKeptProcess, TerminalSize } from '@dock/host-protocol'
import { AgentRefusal } from '../agent-refusal.ts'
import type { DockState } from '../dock-state.ts'
import { readKept, requireKept } from './kept-processes.ts'
import type { KeptRecord } from './kept-record.ts'

/** Returns the process once it has ended, or as it is after `ms`. */
export async function waitForKept(dock: DockState, processId: string, ms: number): Promise<KeptProcessView> {
  await waitAtMost(dock.parts.clock, ms, requireKept(dock, processId).ended)
  return readKept(dock, processId)
}

/** Does nothing if the process has ended, except that KILL for the tree also ends what the process has left behind. */
export async function signalKept(
  dock: DockState,
  processId: string,
  { signal, target }: SignalKeptProcess,
): Promise<void> {
  const { driver } = dock.parts
  const { record, sandbox } = requireKept(dock, processId)
  if (signal === 'KILL' && target === 'tree') return endTree(dock, record)
  if (sandbox && record.reference) await driver.signalProcess(sandbox, record.reference, signal, target)
}

/** A frozen or overloaded sandbox may take longer. The end then goes on. */
const treeEndMs = 10_000

/** Ends everything that the process has started. What has detached from it is no descendant any more, but has its mark. */
const endTree = async (dock: DockState, { reference, generation }: KeptRecord): Promise<void> => {
  const { driver, clock } = dock.parts
  const sandbox = dock.live
  // After another boot, the same mark may belong to other processes.
  if (!sandbox || !reference || generation !== dock.generation) return
  await waitAtMost(clock, treeEndMs, driver.endExec(sandbox, reference))
}

/** Throws `conflict` if the process has no terminal. Does nothing after its end. */
export async function resizeKept(dock: DockState, processId: string, size: TerminalSize): Promise<void> {
  const process = requireKept(dock, processId)
  const { record, sandbox } = process
  if (!record.pty) throw new AgentRefusal('conflict', 'the process has no terminal')
  if (!sandbox || !record.reference) return
  await dock.parts.driver.resizeProcess(sandbox, record.reference, size.cols, size.rows)
  // It may have ended meanwhile. Its end must stay in the record.
  if (process.record.end) return
  process.record = { ...process.record, pty: size }
  await dock.parts.keptRecords.write(dock.dockId, process.record)
}
