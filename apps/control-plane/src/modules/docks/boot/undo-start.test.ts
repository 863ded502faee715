/** A start that fails is undone on its host, where an older disk of the same Dock may lie. */
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { callsOf } from '@dock/testkit/src/docks/lost-time-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { resumeDock, stopDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const resume = (id: string) => outcomeOf(resumeDock(world.modules.context, world.caller, id, {}))
const ordersOf = async () =>
  (await sql`select kind, generation from host_orders where host_id = ${world.hostId}`.execute(world.db)).rows

/**
 * Returns an archived Dock of a database that was restored from a backup. Its host keeps a disk of the lost time, which
 * the database does not know.
 */
const restored = async (): Promise<string> => {
  const { id } = await world.create()
  await stopDock(world.modules.context, world.caller, id, { force: false })
  await sql`update docks set generation = 1000000 where id = ${id}`.execute(world.db)
  world.host.sandboxes.set(id, { dockId: id, generation: 6, state: 'stopped', ip: null })
  return id
}
const expectQuarantined = async (dockId: string) => {
  await world.report()
  const { rows } = await sql`select kind, thing_id as "dockId", generation, state from quarantine
    where host_id = ${world.hostId}`.execute(world.db)
  expect(rows).toEqual([{ kind: 'dock', dockId, generation: 6, state: 'held' }])
}

it('leaves a disk that the host could not capture, which goes to quarantine', async () => {
  const id = await restored()
  world.host.failures.set('start', ['no_space'])
  expect(await resume(id)).not.toBe('succeeded')
  expect(callsOf(world, 'destroy')).toMatchObject([{ dockId: id, body: { keepOlder: true } }])
  expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 6 })
  await expectQuarantined(id)
})

it('leaves that disk as well if the host has to be ordered to undo the start', async () => {
  const id = await restored()
  world.host.failures.set('start', ['no_space'])
  world.host.failures.set('destroy', ['lost'])
  expect(await resume(id)).not.toBe('succeeded')
  expect(await ordersOf()).toEqual([{ kind: 'start', generation: 1_000_001 }])
  await expectQuarantined(id)
  expect(await ordersOf()).toEqual([])
})

it('removes what the start made', async () => {
  world.host.failures.set('start', ['lost-after'])
  world.host.failures.set('destroy', ['lost'])
  expect(await outcomeOf(world.create())).not.toBe('succeeded')
  expect(world.host.sandboxes.size).toBe(1)
  await world.report()
  expect(world.host.sandboxes.size).toBe(0)
  expect(await ordersOf()).toEqual([])
})
