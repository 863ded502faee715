import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { secondHost } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { beginCopy, findNextDueSnapshot } from '../../storage/copies/copy-store.ts'
import { resumeDock } from '../boot/resume-dock.ts'
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
/** The contents of an adopted disk are unknown, so only admins may use it. */
const becomeAdmin = () =>
  sql`update memberships set role = 'admin' where user_id = ${world.caller.userId}`.execute(world.db)

it('an adopted Dock is archived, in the organization that its host noted, and resumes from its disk', async () => {
  const dockId = newUuid()
  world.host.sandboxes.set(dockId, { dockId, generation: 3, state: 'running', ip: null })
  world.host.notesOf = () => noteFor(dockId, 3)
  await world.report()
  const [row] = await open()
  const adopted = await adoptQuarantined(world, row!.id, { by: operator })
  expect(adopted).toMatchObject({ dockId, snapshotId: row!.id, isNewDock: true })
  await expect(resumeDock(world.modules.context, world.caller, dockId, {})).rejects.toMatchObject({
    code: 'environment_secrets_admin_only',
  })
  await becomeAdmin()
  expect(await resumeDock(world.modules.context, world.caller, dockId, {})).toMatchObject({ state: 'ready' })
  expect(world.host.starts.at(-1)).toMatchObject({
    generation: 4,
    source: { kind: 'capture', captureId: row!.id },
    hostname: 'one',
  })
  await expect(adoptQuarantined(world, row!.id, { by: operator })).rejects.toThrow('adopted')
})

it('a capture of a known Dock is adopted as its Snapshot', async () => {
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  const captureId = newUuid()
  world.host.captures.add(captureId)
  world.host.notes.set(captureId, noteFor(dock.id, 2, '2099-01-01T00:00:00.000Z'))
  await world.report()
  const [row] = await open()
  expect(await adoptQuarantined(world, row!.id, { by: operator })).toMatchObject({
    dockId: dock.id,
    isNewDock: false,
  })
  await world.report()
  expect(world.host.captures.has(captureId)).toBe(true)
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  expect(world.host.starts.at(-1)).toMatchObject({ generation: 3, source: { captureId } })
})

/** Returns the newest Snapshot of the Dock. */
const snapshotOf = async (dockId: string): Promise<string> => {
  const { rows } = await sql<{ id: string }>`select id from snapshots where dock_id = ${dockId}
    order by number desc limit 1`.execute(world.db)
  return rows[0]!.id
}
const rowOf = async (snapshotId: string) =>
  (
    await sql<{ status: string; hostId: string; lostAt: Date | null }>`
      select status, host_id as "hostId", lost_at as "lostAt" from snapshots where id = ${snapshotId}`.execute(
      world.db,
    )
  ).rows[0]

describe('a capture of a known Dock', () => {
  let dockId: string
  const stop = async (): Promise<string> => {
    await stopDock(world.modules.context, world.caller, dockId, { force: false })
    return snapshotOf(dockId)
  }
  const resume = () => resumeDock(world.modules.context, world.caller, dockId, {})
  const found = async (captureId: string, generation: number, capturedAt: Date) => {
    world.host.captures.add(captureId)
    world.host.notes.set(captureId, noteFor(dockId, generation, capturedAt.toISOString()))
    await world.report()
    return (await open()).find(({ thingId }) => thingId === captureId)!.id
  }
  const elsewhere = async (snapshotId: string): Promise<string> => {
    const second = await secondHost(world)
    await sql`update snapshots set host_id = ${second} where id = ${snapshotId}`.execute(world.db)
    return second
  }
  beforeEach(async () => {
    dockId = (await world.create()).id
  })

  it('is ordered before Snapshots that were created after it', async () => {
    const first = await stop()
    world.clock.advance(60_000)
    const capturedAt = world.clock.now()
    world.clock.advance(60_000)
    const later: string[] = []
    for (let each = 0; each < 3; each++) {
      await resume()
      later.push(await stop())
      world.clock.advance(1_000)
    }
    const adopted = newUuid()
    await adoptQuarantined(world, await found(adopted, 1, capturedAt), { by: operator })
    const { rows } = await sql<{ id: string }>`select id from snapshots where dock_id = ${dockId}
      order by number`.execute(world.db)
    expect(rows.map(({ id }) => id)).toEqual([first, adopted, ...later])
    await resume()
    expect(world.host.starts.at(-1)).toMatchObject({ source: { captureId: later.at(-1) } })
    expect(await stop()).not.toBe(later.at(-1))
  })

  it('does not change the generation of a running Dock', async () => {
    await adoptQuarantined(world, await found(newUuid(), 9, world.clock.now()), { by: operator })
    const row = await sql`select generation, state from docks where id = ${dockId}`.execute(world.db)
    expect(row.rows).toEqual([{ generation: 1, state: 'ready' }])
  })

  it('completes its former Snapshot if that was lost with another host', async () => {
    const snapshotId = await stop()
    await elsewhere(snapshotId)
    await sql`update snapshots set status = 'failed', lost_at = now() where id = ${snapshotId}`.execute(
      world.db,
    )
    await sql`update docks set last_snapshot_at = null where id = ${dockId}`.execute(world.db)
    const id = await found(snapshotId, 1, world.clock.now())
    expect(await adoptQuarantined(world, id, { by: operator })).toMatchObject({
      dockId,
      snapshotId,
      isNewDock: false,
    })
    expect(await rowOf(snapshotId)).toEqual({ status: 'completed', hostId: world.hostId, lostAt: null })
    await world.report()
    expect(world.host.captures.has(snapshotId)).toBe(true)
    expect(await resume()).toMatchObject({ state: 'ready' })
    expect(world.host.starts.at(-1)).toMatchObject({ source: { captureId: snapshotId } })
  })

  it('is assigned by its Snapshot rather than the note, and kept in addition to another host’s capture', async () => {
    const snapshotId = await stop()
    const second = await elsewhere(snapshotId)
    const { id: other } = await world.create()
    world.host.captures.add(snapshotId)
    world.host.notes.set(snapshotId, noteFor(other, 1))
    await world.report()
    const [row] = await open()
    expect(await adoptQuarantined(world, row!.id, { by: operator })).toMatchObject({ dockId, snapshotId })
    expect(await rowOf(snapshotId)).toMatchObject({ status: 'completed', hostId: second })
    const kept =
      await sql`select host_id, state from snapshot_restores where snapshot_id = ${snapshotId}`.execute(
        world.db,
      )
    expect(kept.rows).toEqual([{ host_id: world.hostId, state: 'kept' }])
    await world.report()
    expect(world.host.captures.has(snapshotId)).toBe(true)
  })

  it('is copied again if the copy of its Snapshot is damaged', async () => {
    const snapshotId = await stop()
    await elsewhere(snapshotId)
    const id = await found(snapshotId, 1, world.clock.now())
    await sql`update snapshots set status = 'failed', host_id = null, copied_at = now()
      where id = ${snapshotId}`.execute(world.db)
    await sql`insert into copies
      (id, organization_id, snapshot_id, verified_at, damaged_at, lease_owner, lease_until, created_at)
      values (${newUuid()}, ${world.organizationId}, ${snapshotId}, now(), now(), 'test', ${world.clock.now()}, now())`.execute(
      world.db,
    )
    await adoptQuarantined(world, id, { by: operator })
    const now = world.clock.now()
    const due = await findNextDueSnapshot(world.db, {
      hosts: [world.hostId],
      now,
      bornBefore: now,
      except: [],
      exceptOrganizations: [],
    })
    expect(due).toMatchObject({ id: snapshotId })
    expect(await beginCopy(world.db, due!, { owner: 'test', until: now, now })).toMatchObject({ snapshotId })
  })

  it('is refused while its Snapshot is being saved', async () => {
    const snapshotId = await stop()
    await elsewhere(snapshotId)
    const id = await found(snapshotId, 1, world.clock.now())
    await sql`update snapshots set status = 'saving' where id = ${snapshotId}`.execute(world.db)
    await expect(adoptQuarantined(world, id, { by: operator })).rejects.toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining('still being saved'),
    })
    expect(await open()).toMatchObject([{ id, state: 'held' }])
  })
})

describe('a capture of an unknown Dock', () => {
  let dockId: string
  const entryOf = async (kind: string) => (await open()).find((entry) => entry.kind === kind)
  const capture = () => entryOf('capture')
  const disk = () => entryOf('dock')
  const adopt = async () => adoptQuarantined(world, (await capture())!.id, { by: operator })
  const isOn = (generation: number, state: 'running' | 'stopped') =>
    world.host.sandboxes.set(dockId, { dockId, generation, state, ip: null })
  const destroyed = () => world.host.calls.filter(({ method }) => method.startsWith('destroy'))
  beforeEach(() => {
    dockId = newUuid()
    world.host.captures.add(newUuid())
    world.host.notesOf = () => noteFor(dockId, 3)
  })

  it('is refused until the disk of its Dock has been captured', async () => {
    isOn(3, 'running')
    world.host.failures.set('stop', ['no_space'])
    await world.report()
    expect([await capture(), await disk()]).toMatchObject([{ state: 'held' }, { state: 'found' }])
    await expect(adopt()).rejects.toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining('may be newer'),
    })
    await world.report()
    expect([await capture(), await disk()]).toMatchObject([{ state: 'held' }, { state: 'held' }])
    expect(await adopt()).toMatchObject({ dockId, isNewDock: true })
    await adoptQuarantined(world, (await disk())!.id, { by: operator })
    await world.report()
    expect(world.host.captures.size).toBe(2)
    expect(destroyed()).toEqual([])
  })

  it.each([3, 2])('proves no end of a disk that is reported later, of generation %i', async (generation) => {
    await world.report()
    await adopt()
    isOn(generation, 'stopped')
    world.host.notesOf = () => noteFor(dockId, generation)
    await world.report()
    expect(await disk()).toMatchObject({ thingId: dockId, generation, state: 'held' })
    expect(destroyed()).toEqual([])
  })

  it('does not wait for the disk on a lost host', async () => {
    const second = await secondHost(world)
    await sql`insert into quarantine (id, host_id, kind, thing_id, generation, dock_id, state, first_seen_at)
      values (${newUuid()}, ${second}, 'dock', ${dockId}, 3, ${dockId}, 'found', now())`.execute(world.db)
    await world.report()
    await expect(adopt()).rejects.toThrow('may be newer')
    await sql`update hosts set lost_at = now() where id = ${second}`.execute(world.db)
    expect(await adopt()).toMatchObject({ dockId, isNewDock: true })
  })
})

it('requires the name of an existing organization if the note has none', async () => {
  world.host.captures.add(newUuid())
  await world.report()
  const [row] = await open()
  await expect(adoptQuarantined(world, row!.id, { by: operator })).rejects.toThrow('--organization')
  await expect(adoptQuarantined(world, row!.id, { organizationId: newUuid(), by: operator })).rejects.toThrow(
    'does not exist',
  )
  const { dockId } = await adoptQuarantined(world, row!.id, {
    organizationId: world.organizationId,
    by: operator,
  })
  await becomeAdmin()
  expect(await resumeDock(world.modules.context, world.caller, dockId, {})).toMatchObject({ state: 'ready' })
})
