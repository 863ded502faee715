/** Capture of a running Dock, which goes on. */
import type { CaptureDock, Captured } from '@dock/host-protocol'
import { AgentRefusal } from './agent-refusal.ts'
import type { DockState } from './dock-state.ts'

/** Runs one capture; it is on stable storage when this answers. */
export const captureDock = async (dock: DockState, command: CaptureDock): Promise<Captured> => {
  const { captureId, operationId, generation } = command
  if (!dock.live || dock.record?.generation !== generation) {
    throw new AgentRefusal('not_running', 'the Dock has no running sandbox of this generation here')
  }
  const result: Captured = await dock.parts.disks.capture(dock.dockId, captureId)
  // A Dock that died meanwhile keeps that phase.
  const phase = dock.record.phase
  await dock.save({ phase, lastOperation: { kind: 'capture', operationId, generation, result } })
  return result
}
