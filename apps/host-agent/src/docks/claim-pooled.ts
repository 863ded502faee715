/**
 * A start that finds its sandbox in the warm pool: booted under this Dock's id, frozen, used by nobody. It is let go on
 * and becomes the Dock's. Nothing of a Dock goes in before the record says that it can never be pooled again.
 */
import type { StartDock, StartedDock } from '@dock/host-protocol'
import { type BootSpec, bootSpecOf } from './dock-record.ts'
import type { DockState } from './dock-state.ts'
import { secretFileEntries, variableEntries } from './given-entries.ts'
import { renameDock } from './rename-dock.ts'
import { tarArchive } from './tar-archive.ts'
import { beginUnpacking } from './unpack-in-dock.ts'

const isSameMachine = (made: BootSpec, wanted: BootSpec): boolean =>
  made.cpus === wanted.cpus &&
  made.memoryMiB === wanted.memoryMiB &&
  made.diskGiB === wanted.diskGiB &&
  made.source.kind === 'image' &&
  wanted.source.kind === 'image' &&
  made.source.image === wanted.source.image &&
  !wanted.newIdentity

/** Answers null when the sandbox is not what was ordered, or does not become it: an ordinary boot replaces it then. */
export async function claimPooled(dock: DockState, command: StartDock): Promise<StartedDock | null> {
  const { record, live } = dock
  const { driver, freezer } = dock.parts
  const wanted = bootSpecOf(command)
  if (!live || record?.phase !== 'running' || !record.spec || record.ip === null) return null
  if (!isSameMachine(record.spec, wanted) || driver.isOutdated?.(live)) return null
  const { operationId, generation, env = {}, files = [] } = command
  const hostname = record.spec.hostname === command.hostname ? null : command.hostname
  const result: StartedDock = { ip: record.ip }
  const claimed = {
    ...{ phase: 'running' as const, generation, spec: wanted },
    lastOperation: { kind: 'start' as const, operationId, generation, result },
    booted: { operationId, result },
  }
  if (hostname !== null && !driver.rename) return null
  const given = [...variableEntries(env), ...secretFileEntries(files)]
  const isReady = hostname === null && given.length === 0
  try {
    const saved = dock.save(
      isReady ? claimed : { ...claimed, phase: 'starting', lastOperation: null, booted: null },
    )
    const begun = Promise.all([saved, freezer.thaw(live, 'pool')])
    // Made while the record is on its way to stable storage.
    const archive = tarArchive(given)
    await begun
    const waiting = dock.unpacking
    dock.unpacking = null
    if (given.length === 0) waiting?.end()
    if (!isReady) {
      await Promise.all([
        // Where an earlier agent began it, it ended with that agent.
        given.length > 0 && (waiting ?? beginUnpacking(driver, live)).give(archive),
        hostname !== null && renameDock(driver, live, hostname),
      ])
      await dock.save(claimed)
    }
    dock.beginRest()
    return result
  } catch (error) {
    dock.logger.warn({ err: error }, 'the sandbox of the pool could not be taken over; booting another')
    return null
  }
}
