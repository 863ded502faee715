/** Captures a running Dock without stopping it. */
import type { CaptureDock, Captured } from '@dock/host-protocol'
import type { SandboxHandle } from '@dock/runtime'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import { createNote } from '../sandboxes/capture-notes.ts'
import type { DockState } from '../sandboxes/dock-state.ts'
import { settleAll } from './settle-all.ts'

/** Captures the disk, attached or not, and writes a note of its owner. On return both are on stable storage. */
export async function captureWithNote(dock: DockState, captureId: string): Promise<Captured> {
  const { disks, captureNotes, clock } = dock.parts
  const note = createNote(dock.record ?? dock.unreadable, clock.now())
  const captured = disks.capture(dock.dockId, captureId)
  if (note) await settleAll([captured, captureNotes.write(captureId, note)])
  return captured
}

/** Adds to a capture that its disk is as after a power cut, if the sandbox was captured before it had written its memory. */
export function markPowerCut({ parts }: DockState, captured: Captured, hasWritten: boolean): Captured {
  // What a sandbox writes to a disk that the host has mounted is in the capture.
  return hasWritten || parts.driver.takesDisk === 'mount' ? captured : { ...captured, afterPowerCut: true }
}

/** A host that has the disk mounted holds writes back itself. Otherwise the sandbox is frozen, which also writes what it has in memory. */
const captureLive = async (dock: DockState, live: SandboxHandle, captureId: string): Promise<Captured> => {
  const { driver, freezer } = dock.parts
  if (driver.takesDisk === 'mount') return await captureWithNote(dock, captureId)
  const hasWritten = await freezer.freeze(live, 'capture')
  try {
    return markPowerCut(dock, await captureWithNote(dock, captureId), hasWritten)
  } finally {
    await freezer.thaw(live, 'capture')
  }
}

/** Runs a capture. On return it is on stable storage. */
export async function captureDock(dock: DockState, command: CaptureDock): Promise<Captured> {
  const { captureId, operationId, generation } = command
  if (!dock.live || dock.record?.generation !== generation) {
    throw new AgentRefusal('not_running', 'the Dock has no running sandbox of this generation here')
  }
  const result = await captureLive(dock, dock.live, captureId)
  // If the Dock died in the meantime, its phase stays `dead`.
  const phase = dock.record.phase
  await dock.save({ phase, lastOperation: { kind: 'capture', operationId, generation, result } })
  return result
}
