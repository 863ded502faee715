/**
 * Starts a Dock by claiming its sandbox from the warm pool. The sandbox is booted under the Dock's id, frozen and unused.
 * Before anything of the Dock enters the sandbox, the record is saved so that the sandbox can never return to the warm pool.
 */
import type { StartDock, StartedDock } from '@dock/host-protocol'
import { type BootSpec, bootSpecOf } from '../sandboxes/dock-record.ts'
import type { DockState } from '../sandboxes/dock-state.ts'
import { tarArchive } from '../sandboxes/tar-archive.ts'
import { beginUnpacking } from '../sandboxes/unpack-in-dock.ts'
import { secretFileEntries, variableEntries } from './environment-entries.ts'
import { renameDock } from './rename-dock.ts'
import { settleAll } from './settle-all.ts'

const isSameMachine = (made: BootSpec, wanted: BootSpec): boolean =>
  made.cpus === wanted.cpus &&
  made.memoryMiB === wanted.memoryMiB &&
  made.diskGiB === wanted.diskGiB &&
  made.source.kind === 'image' &&
  wanted.source.kind === 'image' &&
  made.source.image === wanted.source.image &&
  !wanted.newIdentity

/** Returns null if the sandbox does not match the command or cannot be changed to match. The caller then boots a new one. */
export async function claimWarmSandbox(dock: DockState, command: StartDock): Promise<StartedDock | null> {
  const { record, live } = dock
  const { driver, freezer, disks } = dock.parts
  const wanted = bootSpecOf(command)
  if (!live || record?.phase !== 'running' || !record.spec || record.ip === null) return null
  if (!isSameMachine(record.spec, wanted) || driver.capabilities.isOutdated?.(live)) return null
  // The pool discards sandboxes of an older version within seconds, and a claim may come before that.
  if (wanted.source.kind !== 'image' || !(await disks.isFromCurrentImage(dock.dockId, wanted.source.image)))
    return null
  const { operationId, generation, env = {}, files = [] } = command
  const hostname = record.spec.hostname === command.hostname ? null : command.hostname
  const result: StartedDock = { ip: record.ip }
  const claimed = {
    ...{ phase: 'running' as const, generation, spec: wanted },
    lastOperation: { kind: 'start' as const, operationId, generation, result },
    booted: { operationId, result },
  }
  const incomplete = { ...claimed, phase: 'starting' as const, lastOperation: null, booted: null }
  if (hostname !== null && !driver.capabilities.rename) return null
  const given = [...variableEntries(env), ...secretFileEntries(files)]
  const isReady = hostname === null && given.length === 0
  try {
    const begun = settleAll<[unknown, unknown, unknown]>([
      dock.save(isReady ? claimed : incomplete),
      freezer.thaw(live, 'warm'),
      isReady ? disks.markNeeded(dock.dockId) : Promise.resolve(),
    ])
    // Build the archive while the record is being written.
    const archive = tarArchive(given)
    await begun
    const waiting = dock.unpacking
    dock.unpacking = null
    if (given.length === 0) waiting?.end()
    if (!isReady) {
      await Promise.all([
        // If an earlier agent started the unpacking program, it ended with that agent.
        given.length > 0 && (waiting ?? beginUnpacking(driver, live)).give(archive),
        hostname !== null && renameDock(driver, live, hostname),
      ])
      // Not before: until then an agent that finds the claim incomplete removes the disk.
      await settleAll<[unknown, unknown]>([dock.save(claimed), disks.markNeeded(dock.dockId)])
    }
    dock.resetIdleTimer()
    return result
  } catch (error) {
    dock.logger.warn({ err: error }, 'could not claim the sandbox of the warm pool; booting a new one')
    // If the boot fails before it changes the record, a repeated start must not take this claim for complete.
    await dock.save(incomplete)
    // Nobody has used the disk: the boot replaces it instead of capturing it.
    await disks.markUnneeded(dock.dockId)
    return null
  }
}
