import { ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { hostFacts, inventoryOf } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import type { WarmSandbox } from '../../hosts/index.ts'

let world: TestWorld
useTestWorld(
  (fresh) => {
    world = fresh
  },
  { runImage: 'agents' },
)

/** Puts Docks of the tests' default size into the host's warm pool, and reports them. Returns their ids. */
const hold = async (...names: string[]): Promise<string[]> => {
  world.host.warmPool = names.map(
    (hostname): WarmSandbox => ({
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
  return world.host.warmPool.map((dock) => dock.dockId)
}
const starts = () => world.host.calls.filter((call) => call.method === 'start')

it('a create claims a Dock of the warm pool, with its id, its name and generation 1', async () => {
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

it('tells a newly linked host which kind of Dock to hold in its warm pool', async () => {
  expect(world.host.warmPoolKind).toEqual({ image: 'debian-13', cpus: 2, memoryMiB: 4096, diskGiB: 20 })
})

it('tells a host to hold a few of the image of Runs, while repositories are linked', async () => {
  const facts = hostFacts({ images: ['debian-13', 'agents'] })
  const { modules, db, hostId, host } = world
  const report = async () => {
    await modules.hostEvents.handle(hostId, inventoryOf({ facts }))
    await modules.hostEvents.settled()
    return host.secondKind?.image
  }
  expect(await report()).toBeUndefined()
  await sql`with made as (insert into github_installations (id, provider_installation_id, organization_id, workspace_id,
      created_by, agent, created_at, updated_at)
    values (gen_random_uuid(), 1, ${world.organizationId}, ${world.workspaceId}, ${world.caller.userId}, 'command', now(),
      now()) returning id)
    insert into github_repositories (repository_id, installation_id, full_name, default_branch, linked_at)
    select 1, id, 'acme/app', 'main', now() from made`.execute(db)
  expect(await report()).toBe('agents')
  await sql`delete from github_installations`.execute(db)
})

it('a claimed Dock gets the requested name, or a suffix if the name it was booted with is taken', async () => {
  const [first, second] = await hold('brave-otter', 'calm-reef')
  expect(await world.create({ name: 'My Own' })).toMatchObject({ id: first, name: 'My Own' })
  expect(starts()[0]).toMatchObject({ body: { hostname: 'my-own' } })
  await sql`update docks set name = 'calm-reef' where id = ${first}`.execute(world.db)
  const renamed = await world.create()
  expect(renamed.id).toBe(second)
  expect(renamed.name).toMatch(/^[a-z]+-[a-z]+-[a-z0-9]{4}$/)
  expect(starts()[1]).toMatchObject({ body: { hostname: renamed.name } })
})

it('a create of another size, or with an empty warm pool, boots a new sandbox', async () => {
  const [id] = await hold('brave-otter')
  expect((await world.create({ cpus: 2 })).id).not.toBe(id)
  expect((await world.create()).id).toBe(id)
  expect((await world.create()).id).not.toBe(id)
})

it('concurrent creates each get their own Dock', async () => {
  const ids = await hold('one-arch', 'two-arch', 'three-arch')
  const docks = await Promise.all(Array.from({ length: 8 }, () => world.create()))
  expect(new Set(docks.map((dock) => dock.id)).size).toBe(8)
  expect(docks.filter((dock) => ids.includes(dock.id))).toHaveLength(3)
})

it('a create takes the next Dock of the warm pool if another process has claimed the first', async () => {
  const [first, second] = await hold('one-arch', 'two-arch')
  const other = world.another()
  await other.hostEvents.handle(world.hostId, {
    type: 'pool.ready',
    dock: world.host.warmPool[0]!,
  })
  await other.hostEvents.handle(world.hostId, {
    type: 'pool.ready',
    dock: world.host.warmPool[1]!,
  })
  expect((await world.create()).id).toBe(first)
  const { createDock } = await import('./create-dock.ts')
  expect((await createDock(other.context, world.caller, world.body(), undefined)).id).toBe(second)
})

it('a claimed Dock is not offered again by a late report, nor after it is deleted', async () => {
  const [id] = await hold('brave-otter')
  await world.create()
  await world.report()
  await sql`delete from docks where id = ${id}`.execute(world.db)
  expect((await world.create()).id).not.toBe(id)
  world.host.warmPool = []
  await world.report()
  await world.modules.hostEvents.handle(world.hostId, { type: 'pool.gone', dockId: newUuid() })
  expect((await world.create()).id).not.toBe(id)
})

it('a Dock returns to the warm pool if its create is refused', async () => {
  const [id] = await hold('brave-otter')
  await sql`update hosts set max_docks = 0 where id = ${world.hostId}`.execute(world.db)
  await expect(world.create()).rejects.toMatchObject({ code: 'capacity_exhausted' })
  await sql`update hosts set max_docks = 9 where id = ${world.hostId}`.execute(world.db)
  await world.create({ name: 'same', cpus: 2 })
  await expect(world.create({ name: 'same' })).rejects.toThrow(ServiceError)
  expect((await world.create()).id).toBe(id)
})

it('a Dock of the warm pool is not fenced', async () => {
  const [id] = await hold('brave-otter')
  world.host.sandboxes.set(id!, { dockId: id!, generation: 0, state: 'running', ip: null })
  await world.report()
  expect(world.host.sandboxes.has(id!)).toBe(true)
})

it('a warm pool entry with the id of an existing or deleted Dock is ignored', async () => {
  const [there, gone, ready] = [await world.create(), await world.create(), await world.create()]
  await sql`delete from docks where id = ${gone.id}`.execute(world.db)
  const offer = (dockId: string): WarmSandbox => ({
    dockId,
    image: 'debian-13',
    cpus: 1,
    memoryMiB: 512,
    diskGiB: 1,
    hostname: 'brave-otter',
    ip: '10.0.0.9',
  })
  world.host.warmPool = [there, gone].map(({ id }) => offer(id))
  await world.report()
  await world.modules.hostEvents.handle(world.hostId, { type: 'pool.ready', dock: offer(ready.id) })
  const kind = { image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 1 }
  expect(world.modules.context.warmPools.take(kind, [world.hostId], null)).toBeNull()
})

it('a warm pool entry that another host has already reported is ignored', async () => {
  const [id] = await hold('brave-otter')
  await world.modules.hostEvents.handle(newUuid(), { type: 'pool.ready', dock: world.host.warmPool[0]! })
  expect((await world.create()).id).toBe(id)
  expect(await world.create()).toMatchObject({ hostId: world.hostId })
})

it('a create tries at most three warm pool entries, even if a host offers many taken ids', async () => {
  const ids = await hold(...Array.from({ length: 20 }, (_, at) => `taken-${at}`))
  // Other Docks take these ids between the report and the create.
  for (const id of ids) {
    const dock = await world.create({ cpus: 2 })
    await sql`update docks set id = ${id} where id = ${dock.id}`.execute(world.db)
  }
  const tried: string[] = []
  const { warmPools } = world.modules.context
  const { take } = warmPools
  warmPools.take = (...given) => {
    const waiting = take(...given)
    if (waiting) tried.push(waiting.id)
    return waiting
  }
  const dock = await world.create()
  expect(ids).not.toContain(dock.id)
  expect(tried).toHaveLength(3)
})
