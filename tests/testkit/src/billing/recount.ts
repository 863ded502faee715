/**
 * Counts usage without Dock's metering: it reads the rows of Docks and Snapshots after each change, and adds up what they
 * use until the next one. Times are whole milliseconds. Tests only.
 */

import { readyDockStates } from '@dock/contract'
import type { Db } from '@dock/control-plane/src/database/database.ts'
import { sql } from 'kysely'

type Using = { dockId: string; cpus: number; memoryMiB: number; diskGiB: number; bytes: number }

/** Microseconds times vCPU, MiB, GiB and byte. */
export type Counted = [vcpu: bigint, memory: bigint, disk: bigint, snapshots: bigint]

export type Recount = {
  /** What each Dock used on each day, by `day dockId`. */
  counted: Map<string, Counted>
  /** Reads what is used from now on. */
  observe(): Promise<void>
  /** Adds what was used from `from` to `until` since the last {@link observe}. */
  pass(from: Date, until: Date): void
}

const dayMs = 86_400_000

export function createRecount(db: Db, organizationId: string): Recount {
  const counted: Recount['counted'] = new Map()
  let using: Using[] = []
  const add = (day: string, ms: number): void => {
    for (const { dockId, cpus, memoryMiB, diskGiB, bytes } of using) {
      const sums = counted.get(`${day} ${dockId}`) ?? [0n, 0n, 0n, 0n]
      const amounts = [cpus, memoryMiB, diskGiB, bytes].map((amount) => BigInt(amount) * BigInt(ms) * 1000n)
      counted.set(`${day} ${dockId}`, sums.map((sum, index) => sum + amounts[index]!) as Counted)
    }
  }
  return {
    counted,
    observe: async () => {
      const docks =
        await sql<Using>`select id as "dockId", cpus, memory_mib as "memoryMiB", disk_gib as "diskGiB",
          0 as bytes from docks
        where organization_id = ${organizationId} and state = any(${readyDockStates})
          and billing_paused_at is null`.execute(db)
      const snapshots =
        await sql<Using>`select dock_id as "dockId", 0 as cpus, 0 as "memoryMiB", 0 as "diskGiB",
          size_bytes as bytes from snapshots
        where organization_id = ${organizationId} and status = 'completed'`.execute(db)
      using = [...docks.rows, ...snapshots.rows]
    },
    pass: (from, until) => {
      let at = from.getTime()
      while (at < until.getTime()) {
        const next = Math.min(until.getTime(), (Math.floor(at / dayMs) + 1) * dayMs)
        add(new Date(at).toISOString().slice(0, 10), next - at)
        at = next
      }
    },
  }
}
