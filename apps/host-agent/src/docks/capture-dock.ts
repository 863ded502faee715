/** Capture of a running Dock, which goes on. */
import type { CaptureDock, Captured } from '@dock/host-protocol'
import { AgentRefusal } from './agent-refusal.ts'
import { noteOf } from './capture-notes.ts'
import type { DockState } from './dock-state.ts'
import { settleAll } from './settle-all.ts'

/** Captures the disk, attached or not, and notes whose it is. Both are on stable storage when it answers. */
export async function captureWithNote(dock: DockState, captureId: string): Promise<Captured> {
  const { disks, captureNotes, clock } = dock.parts
  const note = noteOf(dock.record, clock.now())
  const captured = disks.capture(dock.dockId, captureId)
  if (note) await settleAll([captured, captureNotes.write(captureId, note)])
  return captured
}

/** Runs one capture; it is on stable storage when this answers. */
export async function captureDock(dock: DockState, command: CaptureDock): Promise<Captured> {
  const { captureId, operationId, generation } = command
  if (!dock.live || dock.record?.generation !== generation) {
    throw new AgentRefusal('not_running', 'the Dock has no running sandbox of this generation here')
  }
  const result = await captureWithNote(dock, captureId)
  // A Dock that died meanwhile keeps that phase.
  const phase = dock.record.phase
  await dock.save({ phase, lastOperation: { kind: 'capture', operationId, generation, result } })
  return result
}
