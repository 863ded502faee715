/** Destroys a Dock: removes sandbox, network and disk in any state. The record stays as a fence against late commands. */
import type { DestroyDock } from '@dock/host-protocol'
import type { DockState } from './dock-state.ts'
import { endUnreadable } from './end-unreadable.ts'

/** Runs a destroy. Idempotent. */
export async function destroyDock(dock: DockState, command: DestroyDock): Promise<Record<string, never>> {
  const { networks, disks } = dock.parts
  const { operationId, generation } = command
  if (dock.isPooled) dock.parts.poolLosses.emit({ dockId: dock.dockId, isClaimed: false })
  if (dock.record && dock.record.phase !== 'gone') await dock.save({ phase: 'stopping' })
  if (dock.unreadable) await endUnreadable(dock)
  await dock.endSandbox()
  await Promise.all([networks.destroy(dock.dockId), disks.remove(dock.dockId)])
  const result = {}
  await dock.save({
    ...{ phase: 'gone', generation, spec: null, ip: null, sandbox: null },
    lastOperation: { kind: 'destroy', operationId, generation, result },
  })
  return result
}
