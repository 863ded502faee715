/**
 * What hosts report of their Docks' usage. The last sample of each Dock is in memory; a minute that is over is written
 * for all Docks of a host in one statement, as the next minute's first samples arrive, or by a timer where none do. No
 * request waits for any of it.
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
/** A Dock that its host has left out for this long, while it samples others, is there no more. */
const absentMs = 60_000

export type DockUsage = {
  record(hostId: string, samples: readonly UsageSample[]): Promise<void>
  /** The last sample of this boot of the Dock. */
  last(dockId: string, generation: number): DockSample | null
  /** What is not written yet of the Dock's minutes since, on whichever hosts it was. */
  unwritten(dockId: string, since: Date): UsageTotal
  /** Writes the minutes that are over. */
  writeEnded(): Promise<void>
  /** Writes what there is: for an orderly end. */
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
