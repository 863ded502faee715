/** Recovers one Dock at the agent's start: adopts a sandbox that still runs, and undoes an incomplete start. */
import { waitAtMost } from '@dock/foundation'
import type { DockState } from '../sandboxes/dock-state.ts'
import { adoptKept } from '../sandboxes/kept-processes/adopt-kept.ts'
import { removeAllKept } from '../sandboxes/kept-processes/kept-processes.ts'
import { discardWarmSandbox } from './boot-for-warm-pool.ts'
import { endAbandoned } from './end-abandoned.ts'
import { UndoStack } from './undo-stack.ts'

/** How long new commands of an adopted Dock wait until old ones have ended. The work goes on after that. */
const endingMs = 30_000

/** `adopted`: the sandbox runs on. `stuck`: something of the Dock can neither be adopted nor removed now. */
export type Recovered = 'adopted' | 'ended' | 'stuck'

/** A stuck Dock counts as dead, so that the next boot tries again. It must not stop the host from recovering others. */
export async function recoverDock(dock: DockState): Promise<Recovered> {
  try {
    const isAdopted = await adoptOrCleanUp(dock)
    await adoptKept(dock, isAdopted ? dock.live : null)
    if (dock.record === null || dock.record.phase === 'gone') await removeAllKept(dock)
    return isAdopted ? 'adopted' : 'ended'
  } catch (error) {
    dock.logger.error({ err: error }, 'could not recover a Dock')
    if (dock.record?.phase === 'running') await dock.save({ phase: 'dead', ip: null })
    return 'stuck'
  }
}

/**
 * True if a Dock has used the disk since this record was written, which says that none has. The record is then an older
 * copy and proves nothing about the disk.
 */
const isRecordOutdated = async ({
  dockId,
  isInWarmPool,
  record,
  parts: { disks },
}: DockState): Promise<boolean> => {
  const isStart = record?.phase === 'starting' && record.spec?.source.kind !== 'own'
  return (isInWarmPool || isStart) && (await disks.has(dockId)) && !(await disks.isUnneeded(dockId))
}

/** Ends what the record names and erases the record. The disk stays, without a known generation. */
const forgetRecord = async (dock: DockState): Promise<void> => {
  const { networks, disks } = dock.parts
  dock.logger.error({ generation: dock.generation }, 'the record of a Dock is older than its disk')
  await dock.endSandbox()
  await Promise.all([networks.destroy(dock.dockId), disks.detach(dock.dockId)])
  await dock.erase()
}

/** Returns true if a sandbox was adopted. */
const adoptOrCleanUp = async (dock: DockState): Promise<boolean> => {
  const { record, dockId } = dock
  const { driver, disks, networks, bootId, clock } = dock.parts
  if (await isRecordOutdated(dock)) {
    await forgetRecord(dock)
    return false
  }
  if (!record || record.phase === 'gone') return dock.isInWarmPool ? discarded(dock) : false
  // An unused sandbox on an old runtime release: the warm pool will boot another one on the new release.
  if (dock.isInWarmPool && record.sandbox && driver.capabilities.isOutdated?.(record.sandbox))
    return discarded(dock)
  // Do not adopt a sandbox whose stop was ordered: its disk may already be captured, and later writes would be lost.
  if (record.sandbox && record.phase !== 'starting' && record.phase !== 'stopping') {
    if ((await driver.recover(record.sandbox)) === 'running') {
      await dock.save({ phase: 'running' })
      dock.adopt(record.sandbox, { isNew: false })
      // An earlier agent may have ended between the record and the mark.
      if (!dock.isInWarmPool) await disks.markNeeded(dockId)
      if (!dock.isInWarmPool)
        dock.delayUseUntil(waitAtMost(clock, endingMs, endAbandoned(dock, record.sandbox)))
      return true
    }
  }
  if (dock.isInWarmPool) return discarded(dock)
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
  await Promise.all([disks.detach(dockId), disks.markNeeded(dockId)])
  // An ordered end or a reboot of the machine is not reported as a death.
  const wasOrdered = record.phase === 'stopping' || record.phase === 'stopped' || record.bootId !== bootId
  await dock.save({
    phase: record.phase === 'dead' || !wasOrdered ? 'dead' : 'stopped',
    ip: null,
    sandbox: null,
  })
  return false
}

const discarded = async (dock: DockState): Promise<false> => {
  await discardWarmSandbox(dock)
  return false
}
