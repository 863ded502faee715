/** Tells people once when a Dock's disk passes a mark, and again only after it fell below it. */
import { type Clock, newUuid } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { UsageSample } from '../../hosts/index.ts'
import { alertStatement } from '../../notifications/index.ts'
import { type DiskAlert, type DiskMark, readDiskMarks, saveDiskMark } from './usage-store.ts'

/** From the lowest up. */
const marks: readonly { alert: DiskAlert; fraction: number; says: string }[] = [
  { alert: 'disk_warning', fraction: 0.9, says: 'is nearly full' },
  { alert: 'disk_full', fraction: 0.98, says: 'is full' },
]

/** How many marks are passed: 0, 1 or 2. */
const height = (alert: DiskAlert | null): number => marks.findIndex((mark) => mark.alert === alert) + 1
const heightOf = ({ diskBytes, diskLimit }: UsageSample): number =>
  diskLimit === 0 ? 0 : marks.filter((mark) => diskBytes >= diskLimit * mark.fraction).length

export type DiskMarks = { watch(hostId: string, samples: readonly UsageSample[]): Promise<void> }

export function createDiskMarks(options: { db: Db; clock: Clock }): DiskMarks {
  const { db, clock } = options
  // By host: what the rows of the Docks that it last reported say, read once for each.
  const heights = new Map<string, ReadonlyMap<string, number>>()

  const change = async (before: DiskMark, sample: UsageSample): Promise<void> => {
    const reached = marks[heightOf(sample) - 1]
    const rises = reached !== undefined && height(reached.alert) > height(before.alert)
    const alert = rises && {
      type: reached.alert,
      dockId: before.dockId,
      organizationId: before.organizationId,
      title: `The disk of ${before.name} ${reached.says}`,
      body: `${Math.floor((100 * sample.diskBytes) / sample.diskLimit)} % of it is used. Remove files, or stop the Dock and resume it with a larger disk.`,
      at: clock.now(),
      eventId: newUuid(),
    }
    await saveDiskMark(db, before, reached?.alert ?? null, alert ? [alertStatement(alert)] : [])
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
      if (before && height(before.alert) !== heightOf(sample)) await change(before, sample)
    }
  }

  return {
    watch: async (hostId, samples) => {
      const known = heights.get(hostId)
      const changed = samples.filter((sample) => known?.get(sample.dockId) !== heightOf(sample))
      // Nothing is known before all is saved: after a failure the next samples are compared with the rows again.
      heights.delete(hostId)
      await settle(hostId, changed)
      heights.set(hostId, new Map(samples.map((sample) => [sample.dockId, heightOf(sample)])))
    },
  }
}
