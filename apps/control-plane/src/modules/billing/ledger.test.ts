/** When days are closed, and what counts as use. */

import { dockStates, readyDockStates } from '@dock/contract'
import type { FreshDatabase } from '@dock/testkit'
import { setMeteringTime, useVirtualMetering } from '@dock/testkit/src/billing/virtual-metering.ts'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { stopDock } from '../docks/index.ts'
import { createLedger } from './ledger.ts'
import { pruneUsage, removeUsageRows } from './usage-store.ts'

let world: TestWorld
let database: FreshDatabase
useTestWorld(
  async (fresh, shared) => {
    ;[world, database] = [fresh, shared]
    await sql`truncate usage_spans, ledger_days, ledger_docks`.execute(world.db)
    await useVirtualMetering(world.db, new Date('2026-02-27T23:00:00Z'))
  },
  { alone: true },
)

const at = (time: string) => setMeteringTime(world.db, new Date(time))
const stop = (id: string, force = false) => stopDock(world.modules.context, world.caller, id, { force })
const vcpuSeconds = async () =>
  (
    await sql<{ day: string; s: number }>`select day::text, (vcpu_us / 1000000)::int as s from ledger_days
      order by day`.execute(world.db)
  ).rows.map(({ day, s }) => [day, s])
const closedUntil = async () =>
  (await sql<{ day: string }>`select closed_until::text as day from ledger_calendar`.execute(world.db))
    .rows[0]!.day
const close = async (until: string) => {
  const ledger = createLedger(world.db)
  await expect
    .poll(async () => {
      await ledger.close()
      return closedUntil()
    })
    .toBe(until)
}

it('divides a span at midnight in UTC, also at the end of a short month', async () => {
  const { id } = await world.create({ cpus: 2 })
  await at('2026-03-01T01:00:00Z')
  await stop(id, true)
  await close('2026-03-01')
  await at('2026-03-02T00:00:00Z')
  await close('2026-03-02')
  expect(await vcpuSeconds()).toEqual([
    ['2026-02-27', 7_200],
    ['2026-02-28', 172_800],
    ['2026-03-01', 7_200],
  ])
})

it('counts nothing while a refused stop pauses billing', async () => {
  const { id } = await world.create({ cpus: 1 })
  await at('2026-02-27T23:10:00Z')
  world.host.failures.set('stop', ['failed'])
  expect(await outcomeOf(stop(id))).toBe('service_unavailable')
  await at('2026-02-27T23:50:00Z')
  await stop(id)
  await at('2026-02-28T00:00:00Z')
  await close('2026-02-28')
  expect(await vcpuSeconds()).toEqual([['2026-02-27', 600]])
  const stored = await sql<{
    s: number
  }>`select (snapshot_byte_us / 1234000000)::int as s from ledger_days`.execute(world.db)
  expect(stored.rows).toEqual([{ s: 600 }])
})

it('closes no day while a transaction that began on it is open', async () => {
  const { id } = await world.create({ cpus: 1 })
  const client = await database.connections.connect()
  try {
    await client.query('begin')
    await client.query("update docks set state = 'error' where id = $1", [id])
    await at('2026-02-28T00:30:00Z')
    const ledger = createLedger(world.db)
    for (let round = 0; round < 5; round++) await ledger.close()
    expect(await closedUntil()).toBe('2026-02-27')
    await client.query('commit')
    await expect
      .poll(async () => {
        await ledger.close()
        return closedUntil()
      })
      .toBe('2026-02-28')
  } finally {
    client.release()
  }
})

it('closes no day while the newest transaction of the database has begun on it', async () => {
  const { id } = await world.create({ cpus: 1 })
  await at('2026-02-28T00:30:00Z')
  // Each session may have its own time, since no transaction may end after the one that is open.
  await sql`create or replace function metering_now() returns timestamptz language sql volatile as $$
    select coalesce(nullif(current_setting('test.now', true), '')::timestamptz, (select at from metering_time)) $$`.execute(
    world.db,
  )
  const client = await database.connections.connect()
  try {
    await client.query('begin')
    await client.query("select set_config('test.now', '2026-02-27T23:30:00Z', true)")
    await client.query("update docks set state = 'error' where id = $1", [id])
    const ledger = createLedger(world.db)
    for (let round = 0; round < 5; round++) await ledger.close()
    expect(await closedUntil()).toBe('2026-02-27')
    await client.query('commit')
    await close('2026-02-28')
    expect(await vcpuSeconds()).toEqual([['2026-02-27', 1_800]])
  } finally {
    client.release()
  }
})

it('never changes a closed day', async () => {
  await world.create()
  await at('2026-02-28T00:00:00Z')
  await close('2026-02-28')
  for (const table of ['ledger_days', 'ledger_docks'])
    await expect(sql`update ${sql.table(table)} set vcpu_us = 0`.execute(world.db), table).rejects.toThrow(
      'a closed day of the ledger never changes',
    )
})

it('keeps a span until its day is closed and old', async () => {
  const { id } = await world.create()
  await stop(id, true)
  const spans = async () =>
    (await sql<{ n: number }>`select count(*)::int as n from usage_spans`.execute(world.db)).rows[0]!.n
  await at('2026-06-30T00:00:00Z')
  await pruneUsage(world.db)
  expect(await spans()).toBe(1)
  await close('2026-06-30')
  await pruneUsage(world.db)
  expect(await spans()).toBe(0)
  expect(await removeUsageRows(world.db, world.organizationId)).toBe(0)
})

it('ends no span before it began, even if the clock is set back', async () => {
  const { id } = await world.create()
  await at('2026-02-27T22:00:00Z')
  await stop(id, true)
  const spans = await sql`select until_at = from_at as empty from usage_spans`.execute(world.db)
  expect(spans.rows).toEqual([{ empty: true }])
})

it('bills the states in which a Dock can be used', async () => {
  const billed = await sql<{ state: string }>`select state from unnest(${[...dockStates]}::text[]) as s(state)
    where is_billed_dock(state, null)`.execute(world.db)
  expect(billed.rows.map(({ state }) => state).toSorted()).toEqual([...readyDockStates].toSorted())
})
