/**
 * Random lives of Docks in virtual time: real verbs on a real database with the fake host, while processes and
 * transactions die and days are closed. The ledger must equal an independent recount.
 */
import { randomInt } from 'node:crypto'
import { createRecount, type Recount } from '@dock/testkit/src/billing/recount.ts'
import { setMeteringTime, useVirtualMetering } from '@dock/testkit/src/billing/virtual-metering.ts'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { inventoryOf } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { withTransaction } from '../../database/database.ts'
import { createVisitor } from '../accounts/index.ts'
import { branchDock, createDock, deleteDock, resumeDock, stopDock, updateDock } from '../docks/index.ts'
import { deleteSnapshot } from '../snapshots/index.ts'
import { createLedger, type Ledger } from './ledger.ts'
import { pruneUsage } from './usage-store.ts'

/** Enough for each verb to meet each failure many times, in about as many days as are closed. Each run has another seed. */
const lives = 400
const liveMax = 25
const hourMs = 3_600_000

/** Mulberry32, a pseudorandom generator with a seed. Returns a whole number below `limit`. */
const createRandom = (seed: number) => {
  let state = seed
  return (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit)
  }
}

let world: TestWorld
useTestWorld(
  async (fresh) => {
    world = fresh
    await useVirtualMetering(world.db, world.clock.now())
  },
  { alone: true },
)

type Random = ReturnType<typeof createRandom>

/** Refusals are a part of lives, other errors are not. */
const attempt = (work: Promise<unknown>): Promise<void> =>
  work.then(
    () => undefined,
    (error: { code?: string }) => {
      if (error.code === undefined || error.code === 'internal_error') throw error
    },
  )

const createLives = (random: Random, recount: Recount) => {
  let modules = world.modules
  let born = 0
  const admin = createVisitor(world.caller, { role: 'admin', outsider: 'snapshot_not_found' })
  const pick = <T>(list: readonly T[]): T | undefined => list[random(list.length)]
  const size = () => ({ cpus: 1 + random(4), memoryMiB: 512 * (1 + random(8)), diskGiB: 1 + random(20) })
  const failNext = (method: 'start' | 'stop' | 'destroy' | 'capture', chance: number) => {
    world.host.failures.clear()
    const failure = pick(['failed', 'lost', 'lost-after', 'unlinked'] as const)!
    if (random(100) < chance) world.host.failures.set(method, [failure])
  }
  const settle = async () => {
    await modules.runner.sweep()
    await modules.runner.settled()
  }
  const report = async () => {
    world.host.failures.clear()
    const captures = [...world.host.captures]
    const runtimes = [...world.host.sandboxes.values()]
    await modules.hostEvents.handle(world.hostId, inventoryOf({ runtimes, captures }))
    await modules.hostEvents.settled()
    await settle()
  }
  const idsOf = async (table: 'docks' | 'snapshots') =>
    (await sql<{ id: string }>`select id from ${sql.table(table)} order by id`.execute(world.db)).rows.map(
      ({ id }) => id,
    )

  const verbs: ((id: string) => Promise<void>)[] = [
    (id) => {
      failNext('stop', 30)
      return attempt(stopDock(modules.context, world.caller, id, { force: false }))
    },
    (id) => {
      failNext('destroy', 20)
      return attempt(stopDock(modules.context, world.caller, id, { force: true }))
    },
    (id) => {
      failNext('start', 20)
      return attempt(resumeDock(modules.context, world.caller, id, random(2) ? { cpus: 1 + random(4) } : {}))
    },
    (id) => attempt(resumeDock(modules.context, world.caller, id, size())),
    (id) => attempt(updateDock(modules.context, world.caller, id, size())),
    (id) => {
      failNext('capture', 20)
      born += 1
      return attempt(branchDock(modules.context, world.caller, id, { ttlSeconds: null }, undefined))
    },
    async (id) => {
      failNext('destroy', 20)
      await attempt(deleteDock(modules.context, world.caller, id, id))
    },
    async () => {
      const id = pick(await idsOf('snapshots'))
      if (id) await attempt(deleteSnapshot(modules.context, admin, id, id))
    },
    // The sandbox dies; the host's report begins a recovery.
    async (id) => {
      const sandbox = world.host.sandboxes.get(id)
      if (sandbox) world.host.sandboxes.set(id, { ...sandbox, state: 'stopped' })
      await report()
    },
    // A transaction that dies before its commit.
    (id) =>
      withTransaction(world.db, async (tx) => {
        await sql`update docks set state = 'idle', cpus = 60 where id = ${id}`.execute(tx)
        await sql`delete from snapshots where dock_id = ${id}`.execute(tx)
        throw new Error('killed')
      }).catch((error: Error) => expect(error.message).toBe('killed')),
    async (id) => {
      await sql`update docks set active_at = null where id = ${id}`.execute(world.db)
      await modules.context.activity.sweep()
    },
    // The process dies, and with it whatever it had begun.
    async () => {
      await modules.runner.settled()
      modules = world.another()
    },
  ]
  const pass = async (ms: number) => {
    const from = world.clock.now()
    world.clock.advance(ms)
    recount.pass(from, world.clock.now())
    await setMeteringTime(world.db, world.clock.now())
  }
  return {
    born: () => born,
    /** Lets time pass, and does one thing to each of a few Docks. Time stands still meanwhile. */
    step: async () => {
      await pass(random(10) === 0 ? random(40 * hourMs) : random(hourMs))
      await modules.hostEvents.noticeSilence()
      if (random(4) > 0) await report()
      const ids = await idsOf('docks')
      for (let count = ids.length; count < liveMax && born < lives; count += 1 + random(3)) {
        failNext('start', 10)
        born += 1
        await attempt(createDock(modules.context, world.caller, world.body(size()), undefined))
      }
      for (const id of ids) if (random(2) === 0) await pick(verbs)!(id)
      await settle()
      await recount.observe()
    },
    pass,
  }
}

/** Of every three transactions that close a day, one fails before the ledger's rows are written, and one after. */
const breakNextCloses = async () => {
  await sql`create sequence closes`.execute(world.db)
  await sql`create function die() returns trigger language plpgsql as $$
    begin
      if nextval('closes') % 5 in (0, 3) then raise exception 'killed'; end if;
      return new;
    end $$`.execute(world.db)
  await sql`create trigger die_early before insert on ledger_docks for each statement execute function die()`.execute(
    world.db,
  )
  await sql`create trigger die_late after update on ledger_calendar for each row execute function die()`.execute(
    world.db,
  )
}

/** Closes days. Each failure ends the process: the next one has nothing of its memory. */
const closeWithCrashes = async (ledger: Ledger): Promise<Ledger> => {
  try {
    await ledger.close()
    return ledger
  } catch (error) {
    expect((error as Error).message).toBe('killed')
    return createLedger(world.db)
  }
}

const ledgerRows = async (source: 'ledger' | 'spans') => {
  const rows = await sql<{ key: string; sums: string[] }>`
    select to_char(l.day, 'YYYY-MM-DD') || ' ' || l.dock_id as key,
      array[l.vcpu_us, l.memory_mib_us, l.disk_gib_us, l.snapshot_byte_us]::text[] as sums from ${
        source === 'ledger'
          ? sql`ledger_docks l`
          : sql`(select d.day, u.* from (select distinct day from ledger_days) d,
              lateral usage_of_all(day_start(d.day), day_start(d.day + 1)) u) l`
      }`.execute(world.db)
  return new Map(rows.rows.map(({ key, sums }) => [key, sums.map(BigInt)]))
}

it('the ledger equals an independent recount of random lives with crashes', {
  timeout: 900_000,
}, async () => {
  const seed = Number(process.env['DOCK_TEST_SEED'] ?? randomInt(2 ** 31))
  const random = createRandom(seed)
  const recount = createRecount(world.db, world.organizationId)
  const { step, pass, born } = createLives(random, recount)
  const { host } = world
  const [stop, capture] = [host.stop, host.capture]
  host.stop = async (...call) => {
    const { capture: made } = await stop(...call)
    return { capture: made && { sizeBytes: random(2 ** 30) } }
  }
  host.capture = async (...call) => ({ ...(await capture(...call)), sizeBytes: random(2 ** 30) })
  await breakNextCloses()
  let ledger = createLedger(world.db)
  while (born() < lives) {
    await step()
    if (random(5) === 0) ledger = await closeWithCrashes(ledger)
  }
  await pass(48 * hourMs)
  const yesterday = world.clock.now().toISOString().slice(0, 10)
  const closedUntil = async () =>
    (await sql<{ day: string }>`select closed_until::text as day from ledger_calendar`.execute(world.db))
      .rows[0]!.day
  await expect
    .poll(async () => {
      ledger = await closeWithCrashes(ledger)
      return closedUntil()
    })
    .toBe(yesterday)
  const expected = new Map(
    [...recount.counted].filter(([key, sums]) => key < yesterday && sums.some((sum) => sum > 0n)),
  )
  const counted = [...(await ledgerRows('ledger'))].filter(([, sums]) => sums.some((sum) => sum > 0n))
  expect(counted.length, `seed ${seed}`).toBeGreaterThan(lives / 2)
  expect(new Map(counted), `seed ${seed}`).toEqual(expected)
  // Counting the closed days again gives the same, also after old spans were pruned.
  await pruneUsage(world.db)
  expect(await ledgerRows('spans'), `seed ${seed}`).toEqual(await ledgerRows('ledger'))
})
