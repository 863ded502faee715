/** Destroy: sandbox, network and disk go, whatever state they are in; only the fence against late commands stays. */
import type { DestroyDock } from '@dock/host-protocol'
import type { DockState } from './dock-state.ts'

/** Runs one destroy. Repeating it is harmless. */
export async function destroyDock(dock: DockState, command: DestroyDock): Promise<Record<string, never>> {
  const { networks, disks } = dock.parts
  const { operationId, generation } = command
  if (dock.isPooled) dock.parts.poolLosses.emit({ dockId: dock.dockId, isClaimed: false })
  if (dock.record && dock.record.phase !== 'gone') await dock.save({ phase: 'stopping' })
  await dock.endSandbox()
  await Promise.all([networks.destroy(dock.dockId), disks.remove(dock.dockId)])
  const result = {}
  await dock.save({
    ...{ phase: 'gone', generation, spec: null, ip: null, sandbox: null },
    lastOperation: { kind: 'destroy', operationId, generation, result },
  })
  return result
}
