/** A fleet with one host of each runtime: where Docks and their disks may start, and what is refused. */
import type { RuntimeName } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { hostFacts, inventoryOf } from '@dock/testkit/src/docks/fake-host.ts'
import { secondHostOnline } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { createVisitor } from '../../accounts/index.ts'
import { readHostVersions } from '../../hosts/host-versions.ts'
import { HostRefused } from '../../hosts/index.ts'
import { captureHost } from '../../storage/copies/restore-copy.ts'
import { createTemplate } from '../../templates/index.ts'
import { resumeDock, stopDock } from '../index.ts'
import { branchDock } from './branch-dock.ts'

let world: TestWorld
/** The hosts' ids. The world's own host runs gVisor. */
let hosts: Record<RuntimeName, string>
let linked: string[]
useTestWorld(
  (fresh) => {
    world = fresh
  },
  { alone: true },
)

beforeEach(async () => {
  hosts = { gvisor: world.hostId, microvm: await secondHostOnline(world, { runtime: 'microvm' }) }
  linked = Object.values(hosts)
  world.host.hostsWithControlLink = () => linked
})

const context = () => world.modules.context
const of = (runtime: RuntimeName) => ({ runtime, hostId: hosts[runtime] })
const branch = (id: string, runtime?: RuntimeName, key?: string) =>
  branchDock(context(), world.caller, id, { ttlSeconds: null, runtime }, key)
const stop = (id: string) => stopDock(context(), world.caller, id, { force: false })
const save = async (dockId: string): Promise<void> => {
  const admin = createVisitor(world.caller, { role: 'admin', outsider: 'dock_not_found' })
  const gates = { retentionEnabled: async () => false, hasConnectors: async () => false }
  await sql`update memberships set role = 'admin'`.execute(world.db)
  await createTemplate(context(), gates, admin, { dockId, name: 'golden' })
}
/** Lets the copy of the Dock's Snapshot exist on every host. */
const copyEverywhere = async (dockId: string): Promise<void> => {
  await sql`update snapshots set copied_at = now() where dock_id = ${dockId}`.execute(world.db)
  for (const id of Object.values(hosts))
    await sql`insert into snapshot_restores (snapshot_id, host_id, state, updated_at)
      select id, ${id}, 'kept', now() from snapshots where dock_id = ${dockId}`.execute(world.db)
}

describe.each(['gvisor', 'microvm'] as const)('a Dock of runtime %s', (runtime) => {
  const other = runtime === 'gvisor' ? 'microvm' : 'gvisor'

  it('is placed on a host of it, however full that is, and so are its resume, branches and Template', async () => {
    await sql`update hosts set reserved_slots = 25 where id = ${hosts[runtime]}`.execute(world.db)
    const dock = await world.create({ runtime })
    expect(dock).toMatchObject(of(runtime))
    expect(await branch(dock.id)).toMatchObject(of(runtime))
    expect(await branch(dock.id, runtime)).toMatchObject(of(runtime))
    await save(dock.id)
    await stop(dock.id)
    await copyEverywhere(dock.id)
    expect(await world.create({ from: 'golden' })).toMatchObject(of(runtime))
    expect(await world.create({ from: 'golden', runtime })).toMatchObject(of(runtime))
    expect(await branch(dock.id)).toMatchObject(of(runtime))
    expect(await resumeDock(context(), world.caller, dock.id, {})).toEqual({ id: dock.id, state: 'ready' })
    const kept = await sql`select runtime, host_id as "hostId" from docks where id = ${dock.id}`.execute(
      world.db,
    )
    expect(kept.rows).toEqual([of(runtime)])
  })

  it('is refused under the other runtime: as a branch, and from its Template', async () => {
    const dock = await world.create({ runtime })
    await save(dock.id)
    const refusal = {
      code: 'validation_error',
      message: `x-dock-runtime: the disk was made under ${runtime} and does not boot under ${other}. Ask for no runtime.`,
    }
    await expect(branch(dock.id, other)).rejects.toMatchObject(refusal)
    await expect(world.create({ from: 'golden', runtime: other })).rejects.toMatchObject(refusal)
    await stop(dock.id)
    await expect(branch(dock.id, other)).rejects.toMatchObject(refusal)
  })

  it('waits for a host of it, although its disk is copied and the other host has room', async () => {
    const dock = await world.create({ runtime })
    await save(dock.id)
    await stop(dock.id)
    await copyEverywhere(dock.id)
    const { rows } = await sql<{ id: string }>`select id from snapshots where dock_id = ${dock.id}
      order by number desc limit 1`.execute(world.db)
    linked = [hosts[other]]
    const refusal = {
      code: 'base_image_unavailable',
      message: expect.stringContaining(`No host of runtime ${runtime} is online, only of ${other}.`),
    }
    await expect(resumeDock(context(), world.caller, dock.id, {})).rejects.toMatchObject(refusal)
    await expect(branch(dock.id)).rejects.toMatchObject(refusal)
    await expect(world.create({ from: 'golden' })).rejects.toMatchObject(refusal)
    await expect(world.create({ runtime })).rejects.toMatchObject({
      code: 'no_host_capacity',
      message: expect.stringContaining(`No host of runtime ${runtime} is online, only of ${other}.`),
    })
    // Not even for reading is the capture brought to the other host.
    await sql`delete from snapshot_restores`.execute(world.db)
    const copies = { ...world.modules.context, gateway: world.host } as unknown as Parameters<
      typeof captureHost
    >[0]
    await expect(captureHost(copies, { id: rows[0]!.id, hostId: null })).rejects.toThrow('no host could take')
  })

  it('is not moved to a host of the other runtime if its start fails, unless any will do', async () => {
    const { start } = world.host
    world.host.start = (dock, ...rest) =>
      dock.hostId === hosts[runtime]
        ? Promise.reject(new HostRefused('failed', 'no runtime'))
        : start(dock, ...rest)
    expect(await outcomeOf(world.create({ runtime }))).toBe('service_unavailable')
    expect(await world.create()).toMatchObject(of(other))
  })
})

it('without a runtime, any host takes a new Dock', async () => {
  linked = [hosts.microvm]
  expect(await world.create()).toMatchObject(of('microvm'))
  linked = [hosts.gvisor]
  expect(await world.create()).toMatchObject(of('gvisor'))
})

it('the runtime is part of what an idempotency key stands for', async () => {
  const first = await world.create({ runtime: 'gvisor' }, 'create')
  expect(await world.create({ runtime: 'gvisor' }, 'create')).toEqual(first)
  expect(await outcomeOf(world.create({ runtime: 'microvm' }, 'create'))).toBe('idempotency_key_reused')
  expect(await outcomeOf(world.create({}, 'create'))).toBe('idempotency_key_reused')
  const copy = await branch(first.id, undefined, 'branch')
  expect(await branch(first.id, undefined, 'branch')).toEqual(copy)
  expect(await outcomeOf(branch(first.id, 'gvisor', 'branch'))).toBe('idempotency_key_reused')
})

it('a create takes Docks of warm pools of its runtime only', async () => {
  const warm = { image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 1, ip: '10.0.0.9' }
  const pools = { gvisor: newUuid(), microvm: newUuid() }
  const report = () =>
    Promise.all(
      (['gvisor', 'microvm'] as const).map((runtime) =>
        world.modules.hostEvents.handle(
          hosts[runtime],
          inventoryOf({
            facts: hostFacts({ runtime }),
            pool: [{ ...warm, dockId: pools[runtime], hostname: `warm-${runtime}` }],
          }),
        ),
      ),
    )
  await report()
  expect(await world.create({ runtime: 'microvm' })).toMatchObject({ id: pools.microvm, ...of('microvm') })
  expect(await world.create({ runtime: 'microvm' })).toMatchObject(of('microvm'))
  expect(await world.create({ runtime: 'gvisor' })).toMatchObject({ id: pools.gvisor, ...of('gvisor') })
})

it('instance admins see that a host emulates the processor, until it reports that it does not', async () => {
  const report = async (facts: Parameters<typeof hostFacts>[0]) => {
    await world.modules.hostEvents.handle(hosts.microvm, inventoryOf({ facts: hostFacts(facts) }))
    return (
      await readHostVersions(
        { db: world.db, warmPools: { count: () => 0 }, clock: world.clock },
        hosts.microvm,
      )
    ).isEmulated
  }
  expect(await report({ runtime: 'microvm' })).toBe(false)
  expect(await report({ runtime: 'microvm', isEmulated: true })).toBe(true)
  expect(await report({ runtime: 'microvm' })).toBe(false)
})
