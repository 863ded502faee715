/** Takes up one Dock at the agent's start: a sandbox that still runs is adopted, a half-made start is taken back. */
import type { DockState } from './dock-state.ts'
import { endAbandoned } from './end-abandoned.ts'
import { discardPooled } from './pool-boot.ts'
import { UndoStack } from './undo-stack.ts'
import { within } from './within.ts'

/** How long an adopted Dock's new commands wait for the end of an earlier agent's; the work on it goes on after that. */
const endingMs = 30_000

/** `adopted`: its sandbox runs on. `stuck`: something of it can be neither adopted nor taken back now. */
export type Recovered = 'adopted' | 'ended' | 'stuck'

/** One that is stuck counts as dead, so that the next boot tries anew; it must not keep the host from the others. */
export async function recoverDock(dock: DockState): Promise<Recovered> {
  try {
    return (await takeUp(dock)) ? 'adopted' : 'ended'
  } catch (error) {
    dock.logger.error({ err: error }, 'a Dock could not be taken up')
    if (dock.record?.phase === 'running') await dock.save({ phase: 'dead', ip: null })
    return 'stuck'
  }
}

/** Answers whether a sandbox was adopted. */
const takeUp = async (dock: DockState): Promise<boolean> => {
  const { record, dockId } = dock
  const { driver, disks, networks, bootId, clock } = dock.parts
  if (!record || record.phase === 'gone') return dock.isPooled ? discarded(dock) : false
  // Nobody uses it yet: the pool makes another on the new release.
  if (dock.isPooled && record.sandbox && driver.isOutdated?.(record.sandbox)) return discarded(dock)
  // One whose end was ordered may stand still at its capture: what it wrote from now on would be lost.
  if (record.sandbox && record.phase !== 'starting' && record.phase !== 'stopping') {
    if ((await driver.recover(record.sandbox)) === 'running') {
      await dock.save({ phase: 'running' })
      dock.adopt(record.sandbox, { isNew: false })
      if (!dock.isPooled) dock.useAfter(within(clock, endingMs, endAbandoned(dock, record.sandbox)))
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
    await dock.save({ phase, ip: null, sandbox: null, lastOperation: null, booted: null })
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
