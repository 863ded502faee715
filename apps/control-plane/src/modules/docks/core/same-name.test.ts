/** A Dock ends while another one is created under its name: whoever comes second is refused, and neither breaks off. */

import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { eachInAWorld, outcomeOf } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { deleteDock, stopDock } from '../index.ts'

let world: TestWorld
eachInAWorld((fresh) => {
  world = fresh
})

const waits = async () =>
  (
    await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(world.db)
  ).rows.length

/**
 * How a create of the same name ends, and how `ending` does: the create holds the host and waits, for its key, until
 * the other's last statement has come as far as it can.
 */
const raced = async (method: 'start' | 'stop' | 'destroy', begin: () => Promise<unknown>) => {
  await world.create({ name: 'earlier' }, 'key')
  await sql`update idempotency_keys set created_at = '2000-01-01'`.execute(world.db)
  const gate = Promise.withResolvers<void>()
  world.host.gate.set(method, gate.promise)
  let isDone = false
  const called = () => world.host.calls.filter((call) => call.method === method).length
  const before = called()
  const ending = outcomeOf(begin()).finally(() => {
    isDone = true
  })
  await expect.poll(called).toBe(before + 1)
  const { creating } = await world.db.transaction().execute(async (tx) => {
    await sql`select 1 from idempotency_keys where organization_id = ${world.organizationId} for update`.execute(
      tx,
    )
    const creating = outcomeOf(world.create({ name: 'same' }, 'key'))
    await expect.poll(waits).toBe(1)
    gate.resolve()
    await expect.poll(async () => isDone || (await waits()) === 2).toBe(true)
    return { creating }
  })
  return { create: await creating, end: await ending }
}

const stop = (id: string) => stopDock(world.modules.context, world.caller, id, { force: false })

it('a stop ends', async () => {
  const { id } = await world.create({ name: 'same' })
  expect(await raced('stop', () => stop(id))).toEqual({ create: 'dock_name_taken', end: 'succeeded' })
})

it('a stop fails', async () => {
  const { id } = await world.create({ name: 'same' })
  world.host.failures.set('stop', ['failed'])
  expect(await raced('stop', () => stop(id))).toEqual({
    create: 'dock_name_taken',
    end: 'service_unavailable',
  })
  const { rows } = await sql`select state from docks where id = ${id}`.execute(world.db)
  expect(rows).toEqual([{ state: 'ready' }])
})

it('a start fails', async () => {
  const begin = () => {
    world.host.failures.set('start', ['invalid'])
    return world.create({ name: 'same' })
  }
  expect(await raced('start', begin)).toEqual({ create: 'dock_name_taken', end: 'validation_error' })
})

it('a Dock is deleted', async () => {
  const { id } = await world.create({ name: 'same' })
  const remove = () => deleteDock(world.modules.context, world.caller, id, id)
  expect((await raced('destroy', remove)).create).toBe('dock_name_taken')
  await world.modules.runner.settled()
  expect((await sql`select 1 from docks where id = ${id}`.execute(world.db)).rows).toEqual([])
})
