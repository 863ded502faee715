import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { secondHostOnline } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { HostRefused } from '../../hosts/index.ts'
import { resumeDock, stopDock } from '../index.ts'

let world: TestWorld
let second: string
/** Hosts that received start commands, in order. */
let asked: string[]
/** Hosts on which every start fails. */
let broken: Map<string, HostRefused>
useTestWorld((fresh) => {
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
  world.host.hostsWithControlLink = () => [world.hostId, second]
  asked = []
  broken = new Map()
  const { start } = world.host
  world.host.start = async (dock, ...rest) => {
    asked.push(dock.hostId)
    const refusal = broken.get(dock.hostId)
    if (refusal) throw refusal
    return start(dock, ...rest)
  }
  // Placement prefers the first host.
  await sql`update hosts set reserved_slots = 25 where id = ${second}`.execute(world.db)
})

it('a start that fails on its host is tried on a second host', async () => {
  broken.set(world.hostId, new HostRefused('failed', 'no runtime'))
  const dock = await world.create()
  expect(dock).toMatchObject({ state: 'ready', hostId: second })
  expect(asked).toEqual([world.hostId, second])
  expect(await slots(world.hostId)).toEqual({ slots: 0, counted: 0 })
  expect(await slots(second)).toEqual({ slots: 26, counted: 1 })
  // The first host is ordered to remove whatever it may have created.
  const orders =
    await sql`select host_id, kind, generation from host_orders where thing_id = ${dock.id}`.execute(world.db)
  expect(orders.rows).toEqual([{ host_id: world.hostId, kind: 'start', generation: 1 }])
  await world.report()
  expect((await sql`select 1 from host_orders where thing_id = ${dock.id}`.execute(world.db)).rows).toEqual(
    [],
  )
})

it('placement avoids the failed host for a few minutes', async () => {
  broken.set(world.hostId, new HostRefused('failed', 'no runtime'))
  await world.create()
  asked = []
  expect((await world.create()).hostId).toBe(second)
  expect(asked).toEqual([second])
  broken.clear()
  world.clock.advance(301_000)
  expect((await world.create()).hostId).toBe(world.hostId)
})

it('a start is tried on at most two hosts', async () => {
  for (const id of [world.hostId, second]) broken.set(id, new HostRefused('failed', 'no runtime'))
  expect(await outcomeOf(world.create())).toBe('service_unavailable')
  expect(asked).toEqual([world.hostId, second])
  expect(await slots(second)).toEqual({ slots: 25, counted: 0 })
  expect(await slots(world.hostId)).toEqual({ slots: 0, counted: 0 })
  // An avoided host is used if there is no other.
  broken.clear()
  expect(await outcomeOf(world.create())).toBe('succeeded')
})

it('a start is not tried on another host if the request is at fault', async () => {
  broken.set(world.hostId, new HostRefused('invalid', 'too small'))
  expect(await outcomeOf(world.create())).toBe('validation_error')
  expect(asked).toEqual([world.hostId])
})

it('a resume moves to another host only if its Snapshot has a copy', async () => {
  const { id } = await world.create()
  await stopDock(world.modules.context, world.caller, id, { force: false })
  broken.set(world.hostId, new HostRefused('failed', 'no runtime'))
  const resume = () => resumeDock(world.modules.context, world.caller, id, {})
  asked = []
  expect(await outcomeOf(resume())).toBe('service_unavailable')
  expect(asked).toEqual([world.hostId])
  // A capture on each host stands in for the copy.
  await sql`update snapshots set copied_at = now() where dock_id = ${id}`.execute(world.db)
  await sql`insert into snapshot_restores (snapshot_id, host_id, state, updated_at)
    select id, ${second}, 'kept', now() from snapshots where dock_id = ${id}`.execute(world.db)
  world.clock.advance(301_000)
  expect(await resume()).toEqual({ id, state: 'ready' })
  expect(asked.slice(1)).toEqual([world.hostId, second])
})
