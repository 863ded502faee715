/** The kept processes of one Dock: those that run, and the latest that have ended. */
import { type KeptEnd, type KeptProcess as KeptProcessView, keptEndedMax } from '@dock/host-protocol'
import type { StreamsState } from '../../process-keeper/kept-streams.ts'
import { AgentRefusal } from '../agent-refusal.ts'
import type { DockState } from '../dock-state.ts'
import { countRunning, isRunning, type KeptProcess } from './kept-process.ts'

/** Throws `not_found`. */
export function requireKept({ kept }: DockState, processId: string): KeptProcess {
  const found = kept.get(processId)
  if (!found) throw new AgentRefusal('not_found', 'this Dock has no such process')
  return found
}

/** Tells the control plane how many processes run. */
export function reportRunning({ dockId, generation, kept, parts: { events } }: DockState): void {
  events.emit({ type: 'dock.processes', dockId, generation, running: countRunning(kept) })
}

/** Records the end of a process. */
export async function recordEnd(
  dock: DockState,
  process: KeptProcess,
  end: Pick<KeptEnd, 'exitCode' | 'signal' | 'reason'>,
): Promise<void> {
  const { parts, dockId, logger } = dock
  const { processId } = process.record
  process.record = { ...process.record, end: { ...end, at: parts.clock.now().toISOString() } }
  process.sandbox = null
  try {
    // The Dock, or this process, may have been removed meanwhile.
    if (dock.kept.get(processId) === process) {
      await parts.keptRecords.write(dockId, process.record)
      await parts.keeper.closeInput(dockId, processId)
    }
  } catch (error) {
    logger.warn({ err: error, processId }, 'could not record the end of a kept process')
  }
  process.markEnded()
  reportRunning(dock)
}

/** Removes the oldest processes that have ended, so that at most `max` are left. */
export async function removeEnded(dock: DockState, max: number = keptEndedMax): Promise<void> {
  const ended = [...dock.kept.values()].filter((each) => !isRunning(each))
  for (const { record } of ended.slice(0, Math.max(0, ended.length - max))) {
    dock.kept.delete(record.processId)
    // The record last: while it is there, the next agent knows of the output.
    await dock.parts.keeper.remove(dock.dockId, record.processId)
    await dock.parts.keptRecords.remove(dock.dockId, record.processId)
  }
}

/** Removes all processes of a Dock whose sandbox has ended for good. Errors are logged: the next agent removes the rest. */
export async function removeAllKept(dock: DockState): Promise<void> {
  const { kept, dockId, parts, logger } = dock
  if (kept.size === 0) return
  kept.clear()
  try {
    await parts.keeper.removeDock(dockId)
    await parts.keptRecords.removeDock(dockId)
  } catch (error) {
    logger.warn({ err: error }, 'could not remove the kept processes of a Dock')
  }
}

const nothing = { first: 0, end: 0, isOpen: false }

/** Returns what the control plane reads of a process. */
export function viewOf({ record }: KeptProcess, streams: StreamsState | undefined): KeptProcessView {
  const { processId, command, pty, startedAt, end } = record
  return {
    ...{ processId, command, pty, startedAt, end },
    stdin: streams?.stdin ?? { offset: 0, isOpen: false },
    stdout: streams?.stdout ?? nothing,
    stderr: pty ? null : (streams?.stderr ?? nothing),
  }
}

/** Describes one process. */
export async function readKept(dock: DockState, processId: string): Promise<KeptProcessView> {
  const process = requireKept(dock, processId)
  return viewOf(process, (await dock.parts.keeper.states(dock.dockId))[processId])
}

/** Describes all processes, oldest first. Starts no keeper for a Dock without processes. */
export async function listKept(dock: DockState): Promise<KeptProcessView[]> {
  if (dock.kept.size === 0) return []
  const states = await dock.parts.keeper.states(dock.dockId)
  return [...dock.kept.values()].map((each) => viewOf(each, states[each.record.processId]))
}
