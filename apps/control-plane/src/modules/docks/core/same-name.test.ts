/** A Dock ends while another one is created with the same name. The create is refused, and there is no deadlock. */

import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { deleteDock, stopDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const waits = async () =>
  (
    await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(world.db)
  ).rows.length

/**
 * Runs `begin` and a create of the same name concurrently, and returns both outcomes. The create holds the host's row and
 * waits for its idempotency key's row until the last statement of `begin` is done or waits for a lock.
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

it('a create is refused while a stop of the Dock completes', async () => {
  const { id } = await world.create({ name: 'same' })
  expect(await raced('stop', () => stop(id))).toEqual({ create: 'dock_name_taken', end: 'succeeded' })
})

it('a create is refused while a stop of the Dock fails', async () => {
  const { id } = await world.create({ name: 'same' })
  world.host.failures.set('stop', ['failed'])
  expect(await raced('stop', () => stop(id))).toEqual({
    create: 'dock_name_taken',
    end: 'service_unavailable',
  })
  const { rows } = await sql`select state from docks where id = ${id}`.execute(world.db)
  expect(rows).toEqual([{ state: 'ready' }])
})

it('a create is refused while the start of the Dock fails', async () => {
  const begin = () => {
    world.host.failures.set('start', ['invalid'])
    return world.create({ name: 'same' })
  }
  expect(await raced('start', begin)).toEqual({ create: 'dock_name_taken', end: 'validation_error' })
})

it('a create while the Dock is deleted does not deadlock', async () => {
  const { id } = await world.create({ name: 'same' })
  const remove = () => deleteDock(world.modules.context, world.caller, id, id)
  expect((await raced('destroy', remove)).create).toBe('dock_name_taken')
  await world.modules.runner.settled()
  expect((await sql`select 1 from docks where id = ${id}`.execute(world.db)).rows).toEqual([])
})
