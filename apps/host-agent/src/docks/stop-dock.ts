/**
 * Stop: the disk is captured while the sandbox stands still, then sandbox, network and disk go. A capture that fails lets
 * the Dock run on. Cut off anywhere, it can be repeated.
 */
import type { Captured, StopDock, StoppedDock } from '@dock/host-protocol'
import type { SandboxHandle } from '@dock/runtime'
import { AgentRefusal } from './agent-refusal.ts'
import { captureWithNote } from './capture-dock.ts'
import type { DoAfterwards } from './command-lane.ts'
import type { DockState } from './dock-state.ts'
import { sayFarewell } from './farewell.ts'
import { requireRoom } from './seams.ts'

/** Ends sandbox and network in order; the disk stays, detached. */
export async function endInOrder(dock: DockState): Promise<void> {
  const { networks, disks } = dock.parts
  const live = dock.release()
  await Promise.all([dock.save({ phase: 'stopping' }), live ? sayFarewell(dock, live) : null])
  await dock.endSandbox()
  await Promise.all([networks.destroy(dock.dockId), disks.detach(dock.dockId)])
}

/** On return nothing in the sandbox runs: one that cannot be made to stand still is ended. */
const standStill = async (dock: DockState, live: SandboxHandle): Promise<void> => {
  try {
    await dock.parts.freezer.freeze(live, 'stop')
  } catch (error) {
    dock.logger.warn({ err: error }, 'the sandbox is ended before its disk is captured')
    await dock.endSandbox()
  }
}

/** The capture of all that the Dock wrote. Nothing in it runs afterwards; when this throws, it runs on. */
const captureAtLast = async (dock: DockState, captureId: string): Promise<Captured> => {
  const { disks, driver } = dock.parts
  if (!dock.live || !driver.freeze) {
    await endInOrder(dock)
    const stopped = dock.save({ phase: 'stopped', ip: null, sandbox: null })
    return (await Promise.all([captureWithNote(dock, captureId), stopped]))[0]
  }
  const live = dock.live
  dock.release()
  try {
    await Promise.all([dock.save({ phase: 'stopping' }), sayFarewell(dock, live), disks.flush(dock.dockId)])
    await standStill(dock, live)
    return await captureWithNote(dock, captureId)
  } catch (error) {
    dock.adopt(live, { isNew: false })
    await dock.save({ phase: 'running' })
    throw error
  }
}

/**
 * The capture of a stop that was carried out and is repeated, its answer lost, when this host has forgotten the Dock.
 * Throws `not_found` where there is none.
 */
const captureOfBefore = async (
  { dockId, parts: { disks } }: DockState,
  captureId: string,
): Promise<Captured> => {
  const isKept = await disks.captureFile(captureId).then(
    () => true,
    () => false,
  )
  if (!isKept) throw new AgentRefusal('not_found', 'this host keeps no disk of the Dock')
  return disks.capture(dockId, captureId)
}

/** Removes all but the capture. What cannot be removed now is removed by the next start of the Dock or of the agent. */
const leaveHost = async (dock: DockState): Promise<void> => {
  const { networks, disks } = dock.parts
  try {
    await dock.endSandbox()
    await Promise.all([networks.destroy(dock.dockId), disks.remove(dock.dockId)])
    await dock.save({ phase: 'gone', sandbox: null })
  } catch (error) {
    dock.logger.error({ err: error }, 'a stopped Dock left something behind')
  }
}

/** Runs one stop. With a `captureId` nothing but the capture stays; without one the host keeps the disk. */
export async function stopDock(
  dock: DockState,
  command: StopDock,
  afterwards: DoAfterwards,
): Promise<StoppedDock> {
  const { captureId, generation, operationId } = command
  const phase = dock.isPooled ? 'gone' : (dock.record?.phase ?? 'gone')
  if (phase === 'gone') {
    return { capture: captureId ? await captureOfBefore(dock, captureId) : null }
  }
  const finished = (result: StoppedDock) => ({
    ...{ generation, ip: null },
    lastOperation: { kind: 'stop' as const, operationId, generation, result },
  })
  if (!captureId) {
    await endInOrder(dock)
    const result: StoppedDock = { capture: null }
    await dock.save({ phase: 'stopped', sandbox: null, ...finished(result) })
    return result
  }
  // Refused before its processes are asked to end: with no room for its capture the Dock goes on as it is.
  if (dock.live) requireRoom(dock.parts.disks.room())
  const result: StoppedDock = { capture: await captureAtLast(dock, captureId) }
  // The capture is durable, so the answer may be: should the agent end here, its next start removes the rest.
  await dock.save({ phase: 'gone', ...finished(result) })
  afterwards(() => leaveHost(dock))
  return result
}
