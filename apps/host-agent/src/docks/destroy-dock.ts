/** Destroys a Dock: removes sandbox, network and disk in any state. The record stays as a fence against late commands. */
import type { DestroyDock } from '@dock/host-protocol'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { DockState } from '../sandboxes/dock-state.ts'
import { removeAllKept } from '../sandboxes/kept-processes/kept-processes.ts'
import { endUnreadable } from './end-unreadable.ts'

/** True if the disk here was used by an earlier boot, so that the boot of `generation` did not make it. */
const hasOlderDisk = async (dock: DockState, generation: number): Promise<boolean> => {
  const { disks } = dock.parts
  if (!(await disks.has(dock.dockId)) || (await disks.isUnneeded(dock.dockId))) return false
  const known = dock.record ?? dock.unreadable
  return known?.generation !== generation || known.spec?.source.kind === 'own'
}

/** Runs a destroy. Idempotent. */
export async function destroyDock(dock: DockState, command: DestroyDock): Promise<Record<string, never>> {
  const { networks, disks } = dock.parts
  const { operationId, generation, keepOlder } = command
  if (keepOlder && (await hasOlderDisk(dock, generation))) {
    dock.logger.warn(
      { generation, present: dock.generation },
      'keeping a disk that the failed start did not make',
    )
    throw new AgentRefusal('not_found', 'this host has only an older disk of the Dock, which stays')
  }
  if (dock.isInWarmPool) dock.parts.warmPoolLosses.emit({ dockId: dock.dockId, isClaimed: false })
  if (dock.record && dock.record.phase !== 'gone') await dock.save({ phase: 'stopping' })
  if (dock.unreadable) await endUnreadable(dock)
  await dock.endSandbox()
  await Promise.all([networks.destroy(dock.dockId), disks.remove(dock.dockId), removeAllKept(dock)])
  const result = {}
  await dock.save({
    ...{ phase: 'gone', generation, spec: null, ip: null, sandbox: null },
    lastOperation: { kind: 'destroy', operationId, generation, result },
  })
  return result
}
