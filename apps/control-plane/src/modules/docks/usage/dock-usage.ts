/**
 * Collects the usage samples that hosts report. The last sample of each Dock is kept in memory. A completed minute is
 * written in one statement for all Docks of a host, when the first samples of the next minute arrive or, without samples,
 * by a timer. No request waits for these writes.
 */
import type { DockSample } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { UsageSample } from '../../hosts/index.ts'
import { prepareUsageDay, saveUsage } from './usage-store.ts'
import { addTotals, noUsage, totalOf, type UsageTotal } from './usage-total.ts'

const minuteMs = 60_000
const dayMs = 86_400_000
/** How often {@link DockUsage.writeEnded} is to be called. */
export const usageSweepMs = minuteMs
/** A Dock is forgotten if its host reports samples of other Docks but none of this Dock for this long. */
const absentMs = 60_000

export type DockUsage = {
  /** Adds a host's samples. */
  record(hostId: string, samples: readonly UsageSample[]): Promise<void>
  /** Returns the last sample of this generation of the Dock, or null. */
  last(dockId: string, generation: number): DockSample | null
  /** Returns the total of the Dock's minutes since `since` that are not written yet, on all hosts. */
  unwritten(dockId: string, since: Date): UsageTotal
  /** Writes the completed minutes. */
  writeEnded(): Promise<void>
  /** Writes everything, including the current minute. Called at shutdown. */
  flush(): Promise<void>
}

type HostMinute = { minute: number; totals: Map<string, UsageTotal> }

export function createDockUsage(options: { db: Db; clock: Clock }): DockUsage {
  const { db, clock } = options
  const lasts = new Map<string, { sample: UsageSample; hostId: string; at: Date }>()
  const hosts = new Map<string, HostMinute>()
  let preparedDay: number | undefined

  const write = async ({ minute, totals }: HostMinute): Promise<void> => {
    const day = Math.floor(minute / dayMs) * dayMs
    if (day !== preparedDay) await prepareUsageDay(db, new Date(day))
    preparedDay = day
    const rows = [...totals].map(([dockId, total]) => ({ dockId, minute: new Date(minute), total }))
    if (rows.length > 0) await saveUsage(db, rows)
  }

  const writeBefore = async (end: number): Promise<void> => {
    for (const [hostId, each] of hosts) {
      if (each.minute >= end) continue
      hosts.delete(hostId)
      await write(each)
    }
  }

  const minuteNow = (): number => Math.floor(clock.now().getTime() / minuteMs) * minuteMs

  const forgetAbsent = (hostId: string, now: Date): void => {
    for (const [dockId, last] of lasts)
      if (last.hostId === hostId && now.getTime() - last.at.getTime() > absentMs) lasts.delete(dockId)
  }

  return {
    record: async (hostId, samples) => {
      const now = clock.now()
      const minute = minuteNow()
      const before = hosts.get(hostId)
      const current = before?.minute === minute ? before : { minute, totals: new Map() }
      hosts.set(hostId, current)
      for (const sample of samples) {
        lasts.set(sample.dockId, { sample, hostId, at: now })
        const total = current.totals.get(sample.dockId) ?? noUsage
        current.totals.set(sample.dockId, addTotals(total, totalOf(sample)))
      }
      if (before === current) return
      forgetAbsent(hostId, now)
      if (before) await write(before)
    },
    last: (dockId, generation) => {
      const known = lasts.get(dockId)
      if (known?.sample.generation !== generation) return null
      const { generation: _boot, diskLimit: _room, ...sample } = known.sample
      return sample
    },
    unwritten: (dockId, since) => {
      let unwritten = noUsage
      for (const { minute, totals } of hosts.values()) {
        const total = totals.get(dockId)
        if (total && minute >= since.getTime()) unwritten = addTotals(unwritten, total)
      }
      return unwritten
    },
    writeEnded: () => writeBefore(minuteNow()),
    flush: () => writeBefore(Number.POSITIVE_INFINITY),
  }
}
