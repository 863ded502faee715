/** Ends what runs of a Dock whose record cannot be read. No handle of it is known, so the driver is asked for it. */
import type { DockState } from '../sandboxes/dock-state.ts'

/** On return no sandbox and no network of the Dock is left; its disk is detached and stays. Repeating it is harmless. */
export async function endUnreadable(dock: DockState): Promise<void> {
  const { dockId } = dock
  const { driver, networks, disks } = dock.parts
  for (const handle of await driver.list()) {
    if (handle.dockId !== dockId) continue
    dock.logger.warn(
      { generation: handle.generation },
      'ending the sandbox of a Dock without a readable record',
    )
    await driver.destroy(handle)
  }
  await Promise.all([networks.destroy(dockId), disks.detach(dockId)])
}
