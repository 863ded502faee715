/** Sends an alert when a Dock's disk usage rises above a mark, and again only after it fell below the mark. */
import { type Clock, newUuid } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { UsageSample } from '../../hosts/index.ts'
import { alertStatement } from '../../notifications/index.ts'
import { hasRow, moved } from '../core/dock-commit.ts'
import { type DiskAlert, type DiskMark, readDiskMarks, saveDiskMark } from './usage-store.ts'

/** In ascending order. */
const marks: readonly { alert: DiskAlert; fraction: number; says: string }[] = [
  { alert: 'disk_warning', fraction: 0.9, says: 'is nearly full' },
  { alert: 'disk_full', fraction: 0.98, says: 'is full' },
]

/** Number of marks that are passed: 0, 1 or 2. */
const levelOfAlert = (alert: DiskAlert | null): number => marks.findIndex((mark) => mark.alert === alert) + 1
const levelOf = ({ diskBytes, diskLimit }: UsageSample): number =>
  diskLimit === 0 ? 0 : marks.filter((mark) => diskBytes >= diskLimit * mark.fraction).length

export type DiskMarks = { watch(hostId: string, samples: readonly UsageSample[]): Promise<void> }

export function createDiskMarks(options: { db: Db; clock: Clock }): DiskMarks {
  const { db, clock } = options
  // By host id: the levels in the database for the Docks that the host last reported. Avoids rereading unchanged rows.
  const levels = new Map<string, ReadonlyMap<string, number>>()

  const change = async (before: DiskMark, sample: UsageSample): Promise<void> => {
    const reached = marks[levelOf(sample) - 1]
    const rises = reached !== undefined && levelOfAlert(reached.alert) > levelOfAlert(before.alert)
    const alert = rises && {
      type: reached.alert,
      dockId: before.dockId,
      organizationId: before.organizationId,
      title: `The disk of ${before.name} ${reached.says}`,
      body: `${Math.floor((100 * sample.diskBytes) / sample.diskLimit)} % of the disk is used. Remove files, or stop the Dock and resume it with a larger disk.`,
      at: clock.now(),
      eventId: newUuid(),
    }
    await saveDiskMark(
      db,
      before,
      reached?.alert ?? null,
      alert ? [alertStatement(alert, hasRow(moved))] : [],
    )
  }

  const settle = async (hostId: string, samples: readonly UsageSample[]): Promise<void> => {
    if (samples.length === 0) return
    const rows = await readDiskMarks(
      db,
      hostId,
      samples.map((sample) => sample.dockId),
    )
    const byId = new Map(rows.map((row) => [row.dockId, row]))
    for (const sample of samples) {
      const before = byId.get(sample.dockId)
      if (before && levelOfAlert(before.alert) !== levelOf(sample)) await change(before, sample)
    }
  }

  return {
    watch: async (hostId, samples) => {
      const known = levels.get(hostId)
      const changed = samples.filter((sample) => known?.get(sample.dockId) !== levelOf(sample))
      // Cleared until everything is saved: after a failure, the next samples are compared with the database again.
      levels.delete(hostId)
      await settle(hostId, changed)
      levels.set(hostId, new Map(samples.map((sample) => [sample.dockId, levelOf(sample)])))
    },
  }
}
