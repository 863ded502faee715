/** Stop: the sandbox ends, its disk is captured and goes. Cut off anywhere, it can be repeated. */
import type { StopDock, StoppedDock } from '@dock/host-protocol'
import type { SandboxHandle } from '@dock/runtime'
import { AgentRefusal } from './agent-refusal.ts'
import type { DockState } from './dock-state.ts'
import { requireRoom } from './seams.ts'

const farewellTimeoutMs = 1_000

/** Tells the Dock's processes that it ends, and lets the sandbox hand over what it holds back of its files. */
const sayFarewell = async (dock: DockState, handle: SandboxHandle): Promise<void> => {
  const { freezer } = dock.parts
  if (freezer.isGuarding) return
  const request = {
    argv: ['/bin/bash', '-c', 'kill -TERM -1 2>/dev/null; sync'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
    ...{ cwd: '/', uid: 0, gid: 0, timeoutMs: farewellTimeoutMs, outputLimitBytes: 1024 },
  }
  // A sandbox that cannot take the command any more is ended all the same.
  try {
    await freezer.thaw(handle, 'idle')
    await dock.parts.driver.exec(handle, request)
  } catch (error) {
    dock.logger.warn({ err: error }, 'the sandbox took no farewell')
  }
}

/** Ends sandbox and network in order; the disk stays, detached. */
export const endInOrder = async (dock: DockState): Promise<void> => {
  const { networks, disks } = dock.parts
  const live = dock.release()
  await Promise.all([dock.save({ phase: 'stopping' }), live ? sayFarewell(dock, live) : null])
  await dock.endSandbox()
  await Promise.all([networks.destroy(dock.dockId), disks.detach(dock.dockId)])
}

/** Runs one stop. With a `captureId` the disk is gone afterwards; without one the host keeps it. */
export const stopDock = async (dock: DockState, command: StopDock): Promise<StoppedDock> => {
  const { disks } = dock.parts
  const { dockId } = dock
  const { captureId, generation, operationId } = command
  const phase = dock.isPooled ? 'gone' : (dock.record?.phase ?? 'gone')
  if (phase === 'gone') {
    if (captureId) throw new AgentRefusal('not_found', 'this host keeps no disk of the Dock')
    return { capture: null }
  }
  // Refused before the sandbox ends: with no room for its capture the Dock goes on.
  if (captureId && dock.live) requireRoom(disks.room())
  await endInOrder(dock)
  const [capture] = await Promise.all([
    captureId ? disks.capture(dockId, captureId) : null,
    dock.save({ phase: 'stopped', generation, ip: null, sandbox: null }),
  ])
  const result: StoppedDock = { capture }
  const lastOperation = { kind: 'stop' as const, operationId, generation, result }
  if (!captureId) {
    await dock.save({ phase: 'stopped', lastOperation })
    return result
  }
  // The capture is durable, so the answer may be: should the agent end here, its next start removes the disk.
  await dock.save({ phase: 'gone', lastOperation })
  try {
    await disks.remove(dockId)
  } catch (error) {
    await dock.save({ phase: 'stopped', lastOperation: null })
    throw error
  }
  return result
}
