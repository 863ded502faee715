/** Starts a Dock: claims its sandbox from the warm pool if there is one, otherwise boots it through the boot queue. */
import type { StartDock, StartedDock } from '@dock/host-protocol'
import { NoSpace } from '../disks/pool.ts'
import type { DockState } from '../sandboxes/dock-state.ts'
import { bootDock } from './boot-dock.ts'
import { claimWarmSandbox } from './claim-warm-sandbox.ts'

const refuseWhileFull = ({ parts }: DockState): void => {
  if (parts.freezer.isGuarding)
    throw new NoSpace('the disk pool of this host is full: no Dock starts until there is room')
}

/** Runs a start. Afterwards the Dock runs, or nothing of this start is left. */
export async function startDock(dock: DockState, command: StartDock): Promise<StartedDock> {
  refuseWhileFull(dock)
  if (dock.isInWarmPool) {
    dock.parts.warmPoolLosses.emit({ dockId: dock.dockId, isClaimed: true })
    const claimed = await claimWarmSandbox(dock, command)
    if (claimed) return claimed
  }
  return dock.parts.bootQueue.run(async () => {
    refuseWhileFull(dock)
    return bootDock(dock, command)
  })
}
