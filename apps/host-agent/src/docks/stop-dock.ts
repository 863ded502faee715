/**
 * Stops a Dock: captures the disk while the sandbox is frozen, then removes sandbox, network and disk. If the capture
 * fails, the Dock runs on. A stop that was interrupted at any point can be repeated.
 */
import type { Captured, StopDock, StoppedDock } from '@dock/host-protocol'
import type { SandboxHandle } from '@dock/runtime'
import { requireRoom } from '../disks/pool.ts'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { DockState } from '../sandboxes/dock-state.ts'
import { removeAllKept } from '../sandboxes/kept-processes/kept-processes.ts'
import { captureWithNote, markPowerCut } from './capture-dock.ts'
import type { DoAfterwards } from './command-lane.ts'
import { endUnreadable } from './end-unreadable.ts'
import { shutDownProcesses } from './shut-down-processes.ts'

/** Ends the sandbox gracefully and removes the network. The disk is detached and kept. */
export async function endGracefully(dock: DockState): Promise<void> {
  if (dock.unreadable) return await endUnreadable(dock)
  const { networks, disks } = dock.parts
  const live = dock.release()
  await Promise.all([dock.save({ phase: 'stopping' }), live ? shutDownProcesses(dock, live) : null])
  await dock.endSandbox()
  await Promise.all([networks.destroy(dock.dockId), disks.detach(dock.dockId)])
}

/**
 * On return nothing runs in the sandbox: it is frozen, or ended if it cannot be frozen. Returns false if it did not write what
 * it has in memory.
 */
const freezeOrEnd = async (dock: DockState, live: SandboxHandle): Promise<boolean> => {
  try {
    return await dock.parts.freezer.freeze(live, 'stop')
  } catch (error) {
    dock.logger.warn({ err: error }, 'could not freeze the sandbox; ending it before its disk is captured')
    await dock.endSandbox()
    return false
  }
}

/** Captures everything that the Dock wrote. Nothing runs in it afterwards. If this throws, the Dock runs on. */
const captureForStop = async (dock: DockState, captureId: string): Promise<Captured> => {
  const { disks, driver } = dock.parts
  if (dock.unreadable) {
    // No record is saved before the capture: after a crash in between, the next agent would know less about the disk.
    await endUnreadable(dock)
    return await captureWithNote(dock, captureId)
  }
  if (!dock.live || !driver.capabilities.freezing) {
    await endGracefully(dock)
    const stopped = dock.save({ phase: 'stopped', ip: null, sandbox: null })
    return (await Promise.all([captureWithNote(dock, captureId), stopped]))[0]
  }
  const live = dock.live
  dock.release()
  try {
    await Promise.all([
      dock.save({ phase: 'stopping' }),
      shutDownProcesses(dock, live),
      driver.takesDisk === 'mount' && disks.flush(dock.dockId),
    ])
    const hasWritten = await freezeOrEnd(dock, live)
    return markPowerCut(dock, await captureWithNote(dock, captureId), hasWritten)
  } catch (error) {
    dock.adopt(live, { isNew: false })
    await dock.save({ phase: 'running' })
    throw error
  }
}

/**
 * Returns the capture of a stop that already succeeded, when the command is repeated after this host has forgotten the
 * Dock. Throws `not_found` if there is no such capture.
 */
const findEarlierCapture = async (
  { dockId, parts: { disks } }: DockState,
  captureId: string,
): Promise<Captured> => {
  const isKept = await disks.captureFile(captureId).then(
    () => true,
    () => false,
  )
  if (!isKept) throw new AgentRefusal('not_found', 'this host has no disk of the Dock')
  return disks.capture(dockId, captureId)
}

/** Removes everything but the capture. What cannot be removed now is removed at the next start of the Dock or the agent. */
const removeFromHost = async (dock: DockState): Promise<void> => {
  const { networks, disks } = dock.parts
  try {
    await dock.endSandbox()
    await Promise.all([networks.destroy(dock.dockId), disks.remove(dock.dockId), removeAllKept(dock)])
    await dock.save({ phase: 'gone', sandbox: null })
  } catch (error) {
    dock.logger.error(
      { err: error },
      'could not remove everything of a stopped Dock; retrying at the next start',
    )
  }
}

/** Runs a stop. With a `captureId` only the capture is kept; without it the host keeps the disk. */
export async function stopDock(
  dock: DockState,
  command: StopDock,
  afterwards: DoAfterwards,
): Promise<StoppedDock> {
  const { captureId, generation, operationId } = command
  const phase = dock.isInWarmPool ? 'gone' : (dock.record?.phase ?? 'gone')
  if (phase === 'gone' && !dock.unreadable) {
    return { capture: captureId ? await findEarlierCapture(dock, captureId) : null }
  }
  const finished = (result: StoppedDock) => ({
    ...{ generation, ip: null },
    lastOperation: { kind: 'stop' as const, operationId, generation, result },
  })
  if (!captureId) {
    await endGracefully(dock)
    const result: StoppedDock = { capture: null }
    await dock.save({ phase: 'stopped', sandbox: null, ...finished(result) })
    return result
  }
  // Check this before any process is asked to end: without room for a capture the Dock must run on unchanged.
  // Whether the sandbox of an unreadable record runs is not known, so it may.
  if (dock.live || dock.unreadable) requireRoom(dock.parts.disks.room())
  const result: StoppedDock = { capture: await captureForStop(dock, captureId) }
  // The capture is durable, so respond now. If the agent ends before the cleanup, its next start removes the rest.
  await dock.parts.disks.markUnneeded(dock.dockId).catch((error: unknown) => {
    dock.logger.warn({ err: error }, 'could not mark the disk of a stopped Dock as unneeded')
  })
  await dock.save({ phase: 'gone', ...finished(result) })
  afterwards(() => removeFromHost(dock))
  return result
}
