/** Takes up one Dock at the agent's start: a sandbox that still runs is adopted, a half-made start is taken back. */
import type { DockState } from './dock-state.ts'
import { discardPooled } from './pool-boot.ts'
import { UndoStack } from './undo-stack.ts'

/** Answers whether a sandbox was adopted. */
export const recoverDock = async (dock: DockState): Promise<boolean> => {
  const { record, dockId } = dock
  const { driver, disks, networks, bootId } = dock.parts
  if (!record || record.phase === 'gone') return dock.isPooled ? discarded(dock) : false
  // One whose end was ordered may stand still at its capture: what it wrote from now on would be lost.
  if (record.sandbox && record.phase !== 'starting' && record.phase !== 'stopping') {
    if ((await driver.recover(record.sandbox)) === 'running') {
      await dock.save({ phase: 'running' })
      dock.adopt(record.sandbox, { isNew: false })
      return true
    }
  }
  if (dock.isPooled) return discarded(dock)
  await dock.endSandbox()
  await networks.destroy(dockId)
  if (record.phase === 'starting') {
    const undo = new UndoStack(dock.logger)
    if (record.spec?.source.kind !== 'own') undo.push('remove disk', () => disks.remove(dockId))
    await undo.unwind()
    const phase = (await disks.has(dockId)) ? 'stopped' : 'gone'
    await dock.save({ phase, ip: null, sandbox: null, lastOperation: null })
    return false
  }
  await disks.detach(dockId)
  // An end by order or by the machine's reboot is not a death that anyone is to be alarmed about.
  const wasOrdered = record.phase === 'stopping' || record.phase === 'stopped' || record.bootId !== bootId
  await dock.save({
    phase: record.phase === 'dead' || !wasOrdered ? 'dead' : 'stopped',
    ip: null,
    sandbox: null,
  })
  return false
}

const discarded = async (dock: DockState): Promise<false> => {
  await discardPooled(dock)
  return false
}
