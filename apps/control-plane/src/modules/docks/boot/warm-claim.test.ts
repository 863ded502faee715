import { ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { eachInAWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { PoolReport } from '../../hosts/index.ts'

let world: TestWorld
eachInAWorld((fresh) => {
  world = fresh
})

/** The host holds Docks of the tests' own size ready, and has said so. */
const hold = async (...names: string[]): Promise<string[]> => {
  world.host.pool = names.map(
    (hostname): PoolReport => ({
      dockId: newUuid(),
      image: 'debian-13',
      cpus: 1,
      memoryMiB: 512,
      diskGiB: 1,
      hostname,
      ip: '10.0.0.9',
    }),
  )
  await world.report()
  return world.host.pool.map((dock) => dock.dockId)
}
const starts = () => world.host.calls.filter((call) => call.method === 'start')

it('becomes the Dock that waits, under its id and its name, with generation 1', async () => {
  const [id] = await hold('brave-otter')
  expect(await world.create()).toMatchObject({
    id,
    name: 'brave-otter',
    state: 'ready',
    hostId: world.hostId,
  })
  expect(starts()).toMatchObject([
    { dockId: id, body: { generation: 1, hostname: 'brave-otter', newIdentity: false } },
  ])
  expect(await world.reserved()).toMatchObject({ slots: 1, recounted: 1 })
})

it('tells a host that links what to hold ready, and nothing where it has not the image', async () => {
  expect(world.host.poolKind).toEqual({ image: 'debian-13', cpus: 2, memoryMiB: 4096, diskGiB: 20 })
})

it('gets its own name, or a longer one where the waiting one is taken', async () => {
  const [first, second] = await hold('brave-otter', 'calm-reef')
  expect(await world.create({ name: 'My Own' })).toMatchObject({ id: first, name: 'My Own' })
  expect(starts()[0]).toMatchObject({ body: { hostname: 'my-own' } })
  await sql`update docks set name = 'calm-reef' where id = ${first}`.execute(world.db)
  const renamed = await world.create()
  expect(renamed.id).toBe(second)
  expect(renamed.name).toMatch(/^[a-z]+-[a-z]+-[a-z0-9]{4}$/)
  expect(starts()[1]).toMatchObject({ body: { hostname: renamed.name } })
})

it('is an ordinary start for another size, another image, or with none left', async () => {
  const [id] = await hold('brave-otter')
  expect((await world.create({ cpus: 2 })).id).not.toBe(id)
  expect((await world.create()).id).toBe(id)
  expect((await world.create()).id).not.toBe(id)
})

it('gives each of many racers a Dock of its own', async () => {
  const ids = await hold('one-arch', 'two-arch', 'three-arch')
  const docks = await Promise.all(Array.from({ length: 8 }, () => world.create()))
  expect(new Set(docks.map((dock) => dock.id)).size).toBe(8)
  expect(docks.filter((dock) => ids.includes(dock.id))).toHaveLength(3)
})

it('takes the next one when another process was quicker', async () => {
  const [first, second] = await hold('one-arch', 'two-arch')
  const other = world.another()
  await other.hostEvents.handle(world.hostId, {
    type: 'pool.ready',
    dock: world.host.pool[0]!,
  })
  await other.hostEvents.handle(world.hostId, {
    type: 'pool.ready',
    dock: world.host.pool[1]!,
  })
  expect((await world.create()).id).toBe(first)
  const { createDock } = await import('./create-dock.ts')
  expect((await createDock(other.context, world.caller, world.body(), undefined)).id).toBe(second)
})

it('is not offered again by a report that was on its way, nor once its Dock is deleted', async () => {
  const [id] = await hold('brave-otter')
  await world.create()
  await world.report()
  await sql`delete from docks where id = ${id}`.execute(world.db)
  expect((await world.create()).id).not.toBe(id)
  world.host.pool = []
  await world.report()
  await world.modules.hostEvents.handle(world.hostId, { type: 'pool.gone', dockId: newUuid() })
  expect((await world.create()).id).not.toBe(id)
})

it('stays ready for others when its create is refused', async () => {
  const [id] = await hold('brave-otter')
  await sql`update hosts set max_docks = 0 where id = ${world.hostId}`.execute(world.db)
  await expect(world.create()).rejects.toMatchObject({ code: 'capacity_exhausted' })
  await sql`update hosts set max_docks = 9 where id = ${world.hostId}`.execute(world.db)
  await world.create({ name: 'same', cpus: 2 })
  await expect(world.create({ name: 'same' })).rejects.toThrow(ServiceError)
  expect((await world.create()).id).toBe(id)
})

it('is left alone by the fence, also between its claim and its start', async () => {
  const [id] = await hold('brave-otter')
  world.host.sandboxes.set(id!, { dockId: id!, generation: 0, state: 'running', ip: null })
  await world.report()
  expect(world.host.sandboxes.has(id!)).toBe(true)
})

it('is never a Dock that there is or was, whatever a host offers', async () => {
  const [there, gone, ready] = [await world.create(), await world.create(), await world.create()]
  await sql`delete from docks where id = ${gone.id}`.execute(world.db)
  const offer = (dockId: string): PoolReport => ({
    ...{ dockId, image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 1 },
    ...{ hostname: 'brave-otter', ip: '10.0.0.9' },
  })
  world.host.pool = [there, gone].map(({ id }) => offer(id))
  await world.report()
  await world.modules.hostEvents.handle(world.hostId, { type: 'pool.ready', dock: offer(ready.id) })
  const kind = { image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 1 }
  expect(world.modules.context.pools.take(kind, [world.hostId])).toBeNull()
})

it('is not offered by two hosts', async () => {
  const [id] = await hold('brave-otter')
  await world.modules.hostEvents.handle(newUuid(), { type: 'pool.ready', dock: world.host.pool[0]! })
  expect((await world.create()).id).toBe(id)
  expect(await world.create()).toMatchObject({ hostId: world.hostId })
})

it('is tried a few times only, however many ids of others a host offers', async () => {
  const ids = await hold(...Array.from({ length: 20 }, (_, at) => `taken-${at}`))
  // They become others' between the report and the create.
  for (const id of ids) {
    const dock = await world.create({ cpus: 2 })
    await sql`update docks set id = ${id} where id = ${dock.id}`.execute(world.db)
  }
  const tried: string[] = []
  const { pools } = world.modules.context
  const { take } = pools
  pools.take = (...given) => {
    const waiting = take(...given)
    if (waiting) tried.push(waiting.id)
    return waiting
  }
  const dock = await world.create()
  expect(ids).not.toContain(dock.id)
  expect(tried).toHaveLength(3)
})
