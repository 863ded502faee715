import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { eachInAWorld, outcomeOf } from '@dock/testkit/src/docks/each-world.ts'
import { secondHostOnline } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { HostRefused } from '../../hosts/index.ts'
import { resumeDock, stopDock } from '../index.ts'

let world: TestWorld
let second: string
/** Hosts that were asked to start something, in order. */
let asked: string[]
/** Hosts on which every start fails. */
let broken: Map<string, HostRefused>
eachInAWorld((fresh) => {
  world = fresh
})

const slots = async (hostId: string) =>
  (
    await sql<{ slots: number; counted: number }>`
      select reserved_slots as slots, (select count(*) from docks d where d.host_id = h.id and d.placed)::int as counted
      from hosts h where id = ${hostId}`.execute(world.db)
  ).rows[0]!

beforeEach(async () => {
  second = await secondHostOnline(world)
  world.host.linked = () => [world.hostId, second]
  asked = []
  broken = new Map()
  const { start } = world.host
  world.host.start = async (hostId, ...rest) => {
    asked.push(hostId)
    const refusal = broken.get(hostId)
    if (refusal) throw refusal
    return start(hostId, ...rest)
  }
  // The first host is the one that is chosen.
  await sql`update hosts set reserved_slots = 25 where id = ${second}`.execute(world.db)
})

it('a start that its host fails is tried on a second one', async () => {
  broken.set(world.hostId, new HostRefused('failed', 'no runtime'))
  const dock = await world.create()
  expect(dock).toMatchObject({ state: 'ready', hostId: second })
  expect(asked).toEqual([world.hostId, second])
  expect(await slots(world.hostId)).toEqual({ slots: 0, counted: 0 })
  expect(await slots(second)).toEqual({ slots: 26, counted: 1 })
  // What the first may have made is to go there.
  const orders = await sql`select host_id, generation from host_orders where thing_id = ${dock.id}`.execute(
    world.db,
  )
  expect(orders.rows).toEqual([{ host_id: world.hostId, generation: 1 }])
  await world.report()
  expect((await sql`select 1 from host_orders where thing_id = ${dock.id}`.execute(world.db)).rows).toEqual(
    [],
  )
})

it('the host that failed is avoided for some minutes, and no longer', async () => {
  broken.set(world.hostId, new HostRefused('failed', 'no runtime'))
  await world.create()
  asked = []
  expect((await world.create()).hostId).toBe(second)
  expect(asked).toEqual([second])
  broken.clear()
  world.clock.advance(301_000)
  expect((await world.create()).hostId).toBe(world.hostId)
})

it('is tried on two hosts, not more', async () => {
  for (const id of [world.hostId, second]) broken.set(id, new HostRefused('failed', 'no runtime'))
  expect(await outcomeOf(world.create())).toBe('service_unavailable')
  expect(asked).toEqual([world.hostId, second])
  expect(await slots(second)).toEqual({ slots: 25, counted: 0 })
  expect(await slots(world.hostId)).toEqual({ slots: 0, counted: 0 })
  // An avoided host is better than none.
  broken.clear()
  expect(await outcomeOf(world.create())).toBe('succeeded')
})

it('is not tried elsewhere for a fault of the request', async () => {
  broken.set(world.hostId, new HostRefused('invalid', 'too small'))
  expect(await outcomeOf(world.create())).toBe('validation_error')
  expect(asked).toEqual([world.hostId])
})

it('a resume moves only where a copy of its Snapshot can be had', async () => {
  const { id } = await world.create()
  await stopDock(world.modules.context, world.caller, id, { force: false })
  broken.set(world.hostId, new HostRefused('failed', 'no runtime'))
  const resume = () => resumeDock(world.modules.context, world.caller, id, {})
  asked = []
  expect(await outcomeOf(resume())).toBe('service_unavailable')
  expect(asked).toEqual([world.hostId])
  // A capture on each of them stands for the copy.
  await sql`update snapshots set copied_at = now() where dock_id = ${id}`.execute(world.db)
  await sql`insert into snapshot_restores (snapshot_id, host_id, state, updated_at)
    select id, ${second}, 'kept', now() from snapshots where dock_id = ${id}`.execute(world.db)
  world.clock.advance(301_000)
  expect(await resume()).toEqual({ id, state: 'ready' })
  expect(asked.slice(1)).toEqual([world.hostId, second])
})
