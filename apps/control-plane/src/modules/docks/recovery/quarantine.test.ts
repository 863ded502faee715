import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { callsOf } from '@dock/testkit/src/docks/lost-time-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { eraseQuarantined } from '../../hosts/erase-quarantined.ts'
import { deleteQuarantined, readHost } from '../../hosts/index.ts'
import { stopDock } from '../stop/stop-dock.ts'
import { adoptQuarantined } from './adopt-quarantined.ts'

const operator = { kind: 'operator' } as const

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const open = async () =>
  (
    await sql<{ id: string; kind: string; thingId: string; generation: number; state: string }>`
      select id, kind, thing_id as "thingId", generation, state from quarantine
      where host_id = ${world.hostId} order by kind, thing_id`.execute(world.db)
  ).rows
const runs = (generation = 1) => {
  const dockId = newUuid()
  world.host.sandboxes.set(dockId, { dockId, generation, state: 'running', ip: '10.0.0.9' })
  return dockId
}
const noteFor = (dockId: string, generation: number, capturedAt = '2026-01-01T00:00:00.000Z') => ({
  dockId,
  generation,
  capturedAt,
  organizationId: world.organizationId,
  hostname: 'one',
  cpus: 1,
  memoryMiB: 512,
  diskGiB: 2,
})
const orphans = async () => (await readHost(world.db, world.hostId)).orphans
const destroyed = () => world.host.calls.filter(({ method }) => method.startsWith('destroy'))

it('an unknown Dock is stopped and quarantined, and its disk becomes a capture', async () => {
  const dockId = runs(3)
  await world.report()
  const [row] = await open()
  expect(row).toMatchObject({ kind: 'dock', thingId: dockId, generation: 3, state: 'held' })
  expect(world.host.captures).toEqual(new Set([row!.id]))
  await world.report()
  await world.report()
  expect(await open()).toHaveLength(1)
  expect(await orphans()).toEqual([{ dockId, state: 'quarantined' }])
  expect(destroyed()).toEqual([])
})

it('a disk whose host does not know its generation is quarantined and can be adopted', async () => {
  const dockId = newUuid()
  world.host.unidentified.add(dockId)
  await world.report()
  const [row] = await open()
  expect(row).toMatchObject({ kind: 'dock', thingId: dockId, generation: 0, state: 'held' })
  expect(world.host.captures).toEqual(new Set([row!.id]))
  expect(destroyed()).toEqual([])
  await adoptQuarantined(world, row!.id, { organizationId: world.organizationId, by: operator })
  const docks = await sql`select state, generation from docks where id = ${dockId}`.execute(world.db)
  expect(docks.rows).toEqual([{ state: 'archived', generation: 1 }])
})

it('a Dock whose host lost its record boots again from its disk', async () => {
  const dock = await world.create()
  world.host.sandboxes.clear()
  world.host.unidentified.add(dock.id)
  world.clock.advance(10_000)
  await world.report()
  await world.modules.runner.settled()
  expect(world.host.starts.at(-1)).toMatchObject({ generation: 2, source: { kind: 'own' } })
  expect(await open()).toEqual([])
})

it('a disk is not quarantined if the host has booted a later generation of its Dock', async () => {
  world.host.unidentified.add(newUuid())
  world.host.failures.set('stop', ['stale_generation'])
  await world.report()
  expect(await open()).toEqual([])
})

it('the disk of unknown generation of a deleted organization is removed', async () => {
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  world.host.unidentified.add(dock.id)
  world.host.failures.set('stop', ['no_space', 'no_space'])
  await world.report()
  expect(await open()).toMatchObject([{ thingId: dock.id, state: 'found' }])
  await erase()
  await world.report()
  expect(callsOf(world, 'destroy').at(-1)).toMatchObject({ dockId: dock.id, body: { generation: 1 } })
  expect(world.host.unidentified.size).toBe(0)
})

it('a capture without a Snapshot is quarantined, with its host’s note', async () => {
  const captureId = newUuid()
  const [dockId, organizationId] = [newUuid(), newUuid()]
  world.host.captures.add(captureId)
  world.host.notes.set(captureId, {
    dockId,
    generation: 2,
    organizationId,
    hostname: 'one',
    cpus: 1,
    memoryMiB: 512,
    diskGiB: 2,
    capturedAt: '2026-01-01T00:00:00.000Z',
  })
  await world.report()
  expect(await open()).toMatchObject([{ kind: 'capture', thingId: captureId, generation: 2, state: 'held' }])
  expect(world.host.captures).toEqual(new Set([captureId]))
})

it('a Dock that the host no longer has when it is stopped is not quarantined', async () => {
  const dockId = runs()
  world.host.failures.set('stop', ['not_found'])
  await world.report()
  expect(await open()).toEqual([])
  expect(await orphans()).toEqual([{ dockId, state: 'running' }])
})

it('a runtime whose disk cannot be captured now is ended anyway, and captured later', async () => {
  const dockId = runs()
  world.host.failures.set('stop', ['no_space'])
  await world.report()
  expect(world.host.sandboxes.get(dockId)?.state).toBe('stopped')
  expect(await open()).toMatchObject([{ thingId: dockId, state: 'found' }])
  await world.report()
  expect(await open()).toMatchObject([{ thingId: dockId, state: 'held' }])
  const ids = callsOf(world, 'stop').map(({ body }) => (body as { operationId: string }).operationId)
  // A host repeats the result of an operation that it has finished.
  expect(ids).toEqual([ids[0], `${ids[0]}-end`, ids[0]])
})

it('a Dock whose host has a later generation takes over that generation', async () => {
  const dock = await world.create()
  world.host.sandboxes.set(dock.id, { dockId: dock.id, generation: 7, state: 'running', ip: '10.0.0.7' })
  world.clock.advance(10_000)
  await world.report()
  const row = await sql<{ generation: number; state: string; ip: string }>`
    select generation, state, ip from docks where id = ${dock.id}`.execute(world.db)
  expect(row.rows).toEqual([{ generation: 7, state: 'ready', ip: '10.0.0.7' }])
  expect(world.host.calls.filter(({ method }) => method !== 'start')).toEqual([])
})

it('a later generation of an archived Dock is quarantined', async () => {
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  const captures = new Set(world.host.captures)
  world.host.sandboxes.set(dock.id, { dockId: dock.id, generation: 5, state: 'running', ip: null })
  await world.report()
  const [row] = await open()
  expect(row).toMatchObject({ kind: 'dock', thingId: dock.id, generation: 5, state: 'held' })
  expect(world.host.captures).toEqual(new Set([...captures, row!.id]))
  expect(destroyed()).toEqual([])
})

it('a deleted entry is removed by an order, and not quarantined again', async () => {
  const captureId = newUuid()
  world.host.captures.add(captureId)
  await world.report()
  const [row] = await open()
  await deleteQuarantined(world, row!.id, operator)
  await world.report()
  expect(world.host.captures.has(captureId)).toBe(false)
  await world.report()
  expect(await open()).toMatchObject([{ id: row!.id, state: 'deleted' }])
})

const erase = () => eraseQuarantined(world, { organizationId: world.organizationId })
/** Simulates a deleted organization, so that only the erasure record is left. */
const deleteOrganization = (id: string) =>
  sql`insert into erasures (kind, id) values ('organization', ${id})`.execute(world.db)
const captureOf = (organizationId: string) => {
  const captureId = newUuid()
  world.host.captures.add(captureId)
  world.host.notes.set(captureId, { ...noteFor(newUuid(), 2), organizationId })
  return captureId
}

it('entries of an organization are erased with it, and their disks removed from the host', async () => {
  const another = captureOf(newUuid())
  const capture = captureOf(world.organizationId)
  const dockId = runs(3)
  world.host.notesOf = () => noteFor(dockId, 3)
  await world.report()
  expect(await open()).toHaveLength(3)
  expect(await erase()).toBe(2)
  expect(await open()).toMatchObject([{ thingId: another, state: 'held' }])
  expect(world.host.captures.has(capture)).toBe(true)
  await world.report()
  expect(world.host.captures).toEqual(new Set([another]))
  await world.report()
  expect(await open()).toHaveLength(1)
})

it('unconfirmed entries of a known Dock are erased too', async () => {
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  world.host.sandboxes.set(dock.id, { dockId: dock.id, generation: 5, state: 'running', ip: null })
  world.host.failures.set('stop', ['lost', 'lost'])
  await world.report()
  expect(await open()).toMatchObject([{ kind: 'dock', thingId: dock.id, state: 'found' }])
  expect(await erase()).toBe(1)
  await world.report()
  expect(world.host.sandboxes.has(dock.id)).toBe(false)
  expect(await open()).toEqual([])
})

it('an adopted disk stays even if its entry is erased with the organization that its host noted', async () => {
  const captureId = captureOf(newUuid())
  await world.report()
  const [row] = await open()
  await adoptQuarantined(world, row!.id, { organizationId: world.organizationId, by: operator })
  await sql`update quarantine set organization_id = ${world.organizationId} where id = ${row!.id}`.execute(
    world.db,
  )
  expect(await erase()).toBe(1)
  await world.report()
  expect([await open(), world.host.captures]).toEqual([[], new Set([captureId])])
})

it('a capture of a deleted organization is removed when a host reports it', async () => {
  const gone = newUuid()
  await deleteOrganization(gone)
  captureOf(gone)
  const kept = captureOf(newUuid())
  await world.report()
  expect(await open()).toMatchObject([{ thingId: kept }])
  expect(world.host.captures).toEqual(new Set([kept]))
})
