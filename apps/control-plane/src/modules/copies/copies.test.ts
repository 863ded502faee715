/** Copies against a real database and a folder store; the host is the fake one. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid } from '@dock/foundation'
import { type FreshDatabase, freshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openObjectStore } from '../../object-store/index.ts'
import { createSealer, newRingEntry, parseKeyRing } from '../../sealing/index.ts'
import { deleteDock, stopDock } from '../docks/index.ts'
import { createTestWorld, type TestWorld } from '../docks/test-world.ts'
import { HostRefused } from '../hosts/index.ts'
import { copyAgeMs, createCopier } from './copier.ts'
import { type CopyContext, copyKeysColumn } from './copy-context.ts'
import { evictCaptures } from './evict-captures.ts'
import { removeCopies } from './remove-copies.ts'
import { ensureCapture, NoCopy } from './restore-copy.ts'
import { graceMs, sweepCopies, sweepStrayObjects } from './sweep-copies.ts'

let database: FreshDatabase
let world: TestWorld
let folder: string
let context: CopyContext

beforeAll(async () => {
  database = await freshDatabase()
  world = await createTestWorld(database.db)
  folder = await mkdtemp(join(tmpdir(), 'copies-'))
  const logger = createLogger('copies-test')
  logger.level = 'silent'
  const { db, clock, host } = world
  const ring = parseKeyRing(newRingEntry())
  const sealer = createSealer({ db, clock, ring, columns: [copyKeysColumn] })
  const store = openObjectStore(undefined, folder)
  context = { db, clock, logger, gateway: host, sealer, store, owner: 'test' }
})
afterEach(() => rm(folder, { recursive: true, force: true }))
afterAll(() => database.drop())

const objects = async (): Promise<string[]> => {
  const found: string[] = []
  for await (const { key } of context.store.list('')) found.push(key)
  return found.sort()
}

/** A stopped Dock and its Snapshot. */
const stopped = async (): Promise<{ dockId: string; snapshotId: string }> => {
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  world.clock.advance(copyAgeMs)
  const row = await sql<{ id: string }>`
    select id from snapshots where dock_id = ${dock.id} and status = 'completed'`.execute(world.db)
  return { dockId: dock.id, snapshotId: row.rows[0]!.id }
}

const copiedAt = async (snapshotId: string): Promise<Date | null> =>
  (
    await sql<{ at: Date | null }>`select copied_at as at from snapshots where id = ${snapshotId}`.execute(
      world.db,
    )
  ).rows[0]!.at

const remove = async (dockId: string): Promise<void> => {
  await deleteDock(world.modules.context, world.caller, dockId, dockId)
  await world.modules.runner.settled()
}

describe('a copy', () => {
  it('is made of every completed Snapshot, stands sealed in the store, and brings the capture back', async () => {
    const { snapshotId } = await stopped()
    await createCopier(context).run()
    expect(await copiedAt(snapshotId)).not.toBeNull()
    for (const key of await objects())
      expect((await readFile(join(folder, key))).includes(snapshotId)).toBe(false)

    world.host.captures.delete(snapshotId)
    await sql`update snapshots set host_id = null where id = ${snapshotId}`.execute(world.db)
    await ensureCapture(context, snapshotId, world.hostId)
    expect(world.host.captures.has(snapshotId)).toBe(true)
    await ensureCapture(context, snapshotId, world.hostId)
  })

  it('is never restored from a chunk that was changed', async () => {
    const { snapshotId } = await stopped()
    await createCopier(context).run()
    const chunk = (await objects()).find((key) => key.includes('/chunks/'))!
    const bytes = await readFile(join(folder, chunk))
    bytes[20] = (bytes[20] ?? 0) ^ 1
    await writeFile(join(folder, chunk), bytes)
    world.host.captures.delete(snapshotId)
    await sql`update snapshots set host_id = null where id = ${snapshotId}`.execute(world.db)
    await expect(ensureCapture(context, snapshotId, world.hostId)).rejects.toThrow(/broken|unpacked/)
    expect(world.host.captures.has(snapshotId)).toBe(false)
  })

  it('is not made of a Snapshot that has only just been taken', async () => {
    const dock = await world.create()
    await stopDock(world.modules.context, world.caller, dock.id, { force: false })
    await createCopier(context).run()
    const row = await sql<{ at: Date | null }>`
      select copied_at as at from snapshots where dock_id = ${dock.id}`.execute(world.db)
    expect(row.rows[0]!.at).toBeNull()
  })

  it('does not count while the store loses what it was given', async () => {
    const { snapshotId } = await stopped()
    const store = { ...context.store, get: async () => Buffer.alloc(100) }
    await createCopier({ ...context, store }).run()
    expect(await copiedAt(snapshotId)).toBeNull()
    await expect(ensureCapture(context, snapshotId, '00000000-0000-4000-8000-000000000000')).rejects.toThrow(
      NoCopy,
    )
    world.clock.advance(60_000)
    await createCopier(context).run()
    expect(await copiedAt(snapshotId)).not.toBeNull()
  })

  it('is tried again later when the host fails, and not by two at once', async () => {
    const { snapshotId } = await stopped()
    const gateway = {
      ...world.host,
      nameChunks: () => Promise.reject(new HostRefused('failed', 'the disk is slow')),
    }
    const copier = createCopier({ ...context, gateway })
    await copier.run()
    expect(await copiedAt(snapshotId)).toBeNull()
    let asked = 0
    const counting = {
      ...world.host,
      nameChunks: (...all: Parameters<typeof world.host.nameChunks>) => {
        asked += 1
        return world.host.nameChunks(...all)
      },
    }
    const owners = ['one', 'two', 'three']
    await Promise.all(owners.map((owner) => createCopier({ ...context, owner, gateway: counting }).run()))
    expect(await copiedAt(snapshotId)).not.toBeNull()
    expect(asked).toBe(1)
  })
})

describe('a sweep', () => {
  it('removes what no Snapshot needs after the grace time, and nothing that one needs', async () => {
    const kept = await stopped()
    const gone = await stopped()
    await createCopier(context).run()
    const before = await objects()
    await remove(gone.dockId)
    expect((await sweepCopies(context)).copies).toBeGreaterThanOrEqual(1)
    // The chunks are young still.
    expect((await objects()).filter((key) => key.includes('/chunks/'))).toEqual(
      before.filter((key) => key.includes('/chunks/')),
    )
    world.clock.advance(graceMs + 1)
    expect((await sweepCopies(context)).chunks).toBe(1)
    world.host.captures.delete(kept.snapshotId)
    await sql`update snapshots set host_id = null where id = ${kept.snapshotId}`.execute(world.db)
    await ensureCapture(context, kept.snapshotId, world.hostId)
    expect(world.host.captures.has(kept.snapshotId)).toBe(true)
  })

  it('leaves a chunk alone that a new copy has just said it needs', async () => {
    const { snapshotId, dockId } = await stopped()
    await createCopier(context).run()
    const name = (
      await sql<{ name: string }>`select name from copy_chunk_uses u join copies c on c.id = u.copy_id
      where c.snapshot_id = ${snapshotId}`.execute(world.db)
    ).rows[0]!.name
    await remove(dockId)
    await sweepCopies(context)
    world.clock.advance(graceMs + 1)
    await sql`update copy_chunks set used_at = ${world.clock.now()} where name = ${name}`.execute(world.db)
    expect((await sweepCopies(context)).chunks).toBe(0)
  })

  it('finds objects that no row names', async () => {
    const { snapshotId } = await stopped()
    await createCopier(context).run()
    const needed = await objects()
    await context.store.put(`${world.organizationId}/chunks/aa/stray`, Buffer.from('x'))
    const later = { ...context, clock: { ...world.clock, now: () => new Date(Date.now() + 2 * graceMs) } }
    expect(await sweepStrayObjects(context)).toBe(0)
    expect(await sweepStrayObjects(later)).toBe(1)
    expect(await objects()).toEqual(needed)
    expect(await copiedAt(snapshotId)).not.toBeNull()
  })
})

describe('a deleted organization', () => {
  it('loses every object, once its Snapshots are gone', async () => {
    const { dockId } = await stopped()
    await createCopier(context).run()
    const other = `${newUuid()}/chunks/aa/other`
    await context.store.put(other, Buffer.from('of another organization'))
    expect(await removeCopies(context, world.organizationId)).toBeGreaterThan(0)
    const docks = await sql<{ id: string }>`select id from docks`.execute(world.db)
    for (const { id } of docks.rows) await remove(id)
    expect(docks.rows.map(({ id }) => id)).toContain(dockId)
    expect(await removeCopies(context, world.organizationId)).toBe(0)
    expect(await objects()).toEqual([other])
  })
})

describe('eviction', () => {
  it('gives up copied captures of a crowded host only, and resume brings them back', async () => {
    const copied = await stopped()
    await createCopier(context).run()
    const uncopied = await stopped()
    expect(await evictCaptures(context)).toBe(0)
    await sql`update hosts set disk_free_bytes = disk_total_bytes / 20`.execute(world.db)
    while ((await evictCaptures(context)) > 0);
    expect(world.host.captures.has(copied.snapshotId)).toBe(false)
    expect(world.host.captures.has(uncopied.snapshotId)).toBe(true)
    await ensureCapture(context, copied.snapshotId, world.hostId)
    expect(world.host.captures.has(copied.snapshotId)).toBe(true)
    expect(await readdir(folder)).toContain(world.organizationId)
  })
})
