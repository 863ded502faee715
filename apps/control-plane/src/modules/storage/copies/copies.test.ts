/** Copies with a real database, an object store in a folder, and a fake host. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { chunkName, encodeChunk, parseCopyKeys, sealChunk } from '@dock/copy-format'
import { createLogger, newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openObjectStore } from '../../../object-store/index.ts'
import { createSealer, newRingEntry, parseKeyRing } from '../../../sealing/index.ts'
import { deleteDock, stopDock } from '../../docks/index.ts'
import { deleteQuarantined, HostNotLinked, HostRefused } from '../../hosts/index.ts'
import { checkCopies } from './check-copies.ts'
import { createCopier } from './copier.ts'
import { type CopyContext, copyKeysColumn } from './copy-context.ts'
import { defaultCopySettings } from './copy-settings.ts'
import { beginCopy, CopyLost } from './copy-store.ts'
import { drillNext } from './drill-copies.ts'
import { findNextDrill, recordWhole } from './drill-store.ts'
import { evictCaptures } from './evict-captures.ts'
import { createCopies } from './keep-copies.ts'
import { listFiles } from './list-files.ts'
import { removeCopies } from './remove-copies.ts'
import { ensureCapture, NoCopy } from './restore-copy.ts'
import { sweepStrayObjects } from './stray-objects.ts'
import { sweepCopies, sweepZeroRetention } from './sweep-copies.ts'
import { copyLeaseMs, takeCopy } from './take-copy.ts'

const operator = { kind: 'operator' } as const

const { ageMs: copyAgeMs, graceMs, drillAgainMs } = defaultCopySettings

let database: FreshDatabase
let world: TestWorld
let folder: string
let context: CopyContext

beforeAll(async () => {
  database = await createFreshDatabase()
  world = await createTestWorld(database.db)
  folder = await mkdtemp(join(tmpdir(), 'copies-'))
  const logger = createLogger('copies-test')
  logger.level = 'silent'
  const { db, clock, host } = world
  const ring = parseKeyRing(newRingEntry())
  const sealer = createSealer({ db, clock, ring, columns: [copyKeysColumn] })
  const store = openObjectStore(undefined, folder)
  context = { db, clock, logger, gateway: host, sealer, store, owner: 'test', settings: defaultCopySettings }
})
afterEach(() => rm(folder, { recursive: true, force: true }))
afterAll(() => database.drop())

const objects = async (): Promise<string[]> => {
  const found: string[] = []
  for await (const { key } of context.store.list('')) found.push(key)
  return found.sort()
}

/** Creates a stopped Dock and returns it with its Snapshot. */
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

/** Returns how many chunks the Snapshot's copy uses, and how many of them have a row. */
const chunksOf = async (snapshotId: string) =>
  (
    await sql<{ used: number; stored: number }>`
      select count(*)::int as used, count(k.name)::int as stored from copies c
      join copy_chunk_uses u on u.copy_id = c.id
      left join copy_chunks k on k.organization_id = u.organization_id and k.name = u.name
      where c.snapshot_id = ${snapshotId}`.execute(world.db)
  ).rows[0]!

describe('a copy', () => {
  it('is made again if one of its chunks was found damaged while it was made', async () => {
    const { snapshotId } = await stopped()
    const put: CopyContext['store']['put'] = async (key, bytes) => {
      await context.store.put(key, bytes)
      if (key.endsWith('/manifest'))
        await sql`delete from copy_chunks k using copies c where c.snapshot_id = ${snapshotId}
          and k.object_key like '%' || c.id`.execute(world.db)
    }
    await createCopier({ ...context, store: { ...context.store, put } }).run()
    expect(await copiedAt(snapshotId)).toBeNull()
    await createCopier(context).run()
    expect(await copiedAt(snapshotId)).not.toBeNull()
    expect(await chunksOf(snapshotId)).toEqual({ used: 1, stored: 1 })
  })

  it('is not begun for a Snapshot that was deleted while another was copied', async () => {
    await createCopier(context).run()
    const [first, second] = [await stopped(), await stopped()]
    const asked: string[] = []
    const nameChunks: typeof world.host.nameChunks = async (place, keys) => {
      if (asked.push(place.captureId) === 1) await remove(second.dockId)
      return world.host.nameChunks(place, keys)
    }
    await createCopier({ ...context, gateway: { ...world.host, nameChunks } }).run()
    expect(asked).toEqual([first.snapshotId])
  })

  it('is made of every completed Snapshot, is sealed in the store, and restores the capture', async () => {
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

  it('fails if the host sends chunks that were not requested, and has no index if the list of files is endless', async () => {
    const { snapshotId } = await stopped()
    const before = await objects()
    let sent = 0
    const { gateway: _gateway, ...rest } = context
    const unasked: typeof world.host.sealChunks = async (place, asked) => {
      const keys = parseCopyKeys(asked.keys)
      const { body: frames } = await world.host.sealChunks(place, asked)
      const body = (async function* () {
        const whole = Buffer.concat(await Array.fromAsync(frames))
        // Everything except the frame that ends the stream.
        yield whole.subarray(0, -72)
        for (; sent < 1000; sent++) {
          const content = Buffer.from(`unasked ${sent}`)
          const name = await chunkName(keys, content)
          yield Buffer.concat(encodeChunk({ index: 0, name, bytes: await sealChunk(keys, name, content) }))
        }
      })()
      return { body: Readable.from(body, { objectMode: false, highWaterMark: 1 }) }
    }
    const snapshot = { id: snapshotId, organizationId: world.organizationId, hostId: world.hostId }
    const copying = takeCopy({ ...rest, gateway: { ...world.host, sealChunks: unasked } }, snapshot)
    await expect(copying).rejects.toThrow(/was not requested/)
    expect(sent).toBeLessThan(10)
    let listed = 0
    const path = `/${'p'.repeat(4000)}`
    const endless: typeof world.host.listCaptureFiles = async function* () {
      for (; listed < 1_000_000; listed += 500)
        yield Array.from({ length: 500 }, (_, inode) => ({ path, size: 1, inode }))
    }
    const bounded = {
      ...context,
      indexBytesMax: 2 ** 24,
      gateway: { ...world.host, listCaptureFiles: endless },
    }
    expect(await takeCopy(bounded, snapshot)).toMatchObject({ chunks: 1 })
    expect(listed).toBeLessThan(10_000)
    expect(await copiedAt(snapshotId)).not.toBeNull()
    expect((await objects()).filter((key) => !before.includes(key) && key.includes('/index-'))).toEqual([])
    // A host lists the files instead.
    const listing = await listFiles(context, { id: snapshotId, hostId: world.hostId })
    const files = (await Array.fromAsync(listing)).flat().map((file) => file.path)
    expect(files).toEqual(['/etc/hostname'])
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
    await expect(ensureCapture(context, snapshotId, world.hostId)).rejects.toThrow(/authentication failed/)
    expect(world.host.captures.has(snapshotId)).toBe(false)
  })

  it('is not made of a Snapshot below the minimum age', async () => {
    const dock = await world.create()
    await stopDock(world.modules.context, world.caller, dock.id, { force: false })
    await createCopier(context).run()
    const row = await sql<{ at: Date | null }>`
      select copied_at as at from snapshots where dock_id = ${dock.id}`.execute(world.db)
    expect(row.rows[0]!.at).toBeNull()
  })

  it('is not published if the store does not return what was stored', async () => {
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

  it('waits until the host’s bulk link is connected', async () => {
    const { snapshotId } = await stopped()
    let linked: string[] = []
    const nameChunks: typeof world.host.nameChunks = async (...all) => {
      if (linked.length === 0) throw new HostNotLinked('no bulk link')
      return world.host.nameChunks(...all)
    }
    const copier = createCopier({
      ...context,
      gateway: { ...world.host, hostsWithBulkLink: () => linked, nameChunks },
    })
    await copier.run()
    linked = [world.hostId]
    await copier.run()
    expect(await copiedAt(snapshotId)).not.toBeNull()
  })

  it('is retried after the host failed, by one process at a time', async () => {
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

  it('is taken over once the lease of a dead process expires, but not from a slow process', async () => {
    const { snapshotId } = await stopped()
    const snapshot = { id: snapshotId, organizationId: world.organizationId, hostId: world.hostId }
    let goOn = (): void => undefined
    const named = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const slow: typeof world.host.nameChunks = (...all) => named.then(() => world.host.nameChunks(...all))
    const gateway = { ...world.host, nameChunks: slow }
    const taking = takeCopy({ ...context, gateway, owner: 'slow' }, snapshot)
    const leaseUntil = async () =>
      (
        await sql<{
          at: Date
        }>`select lease_until as at from copies where snapshot_id = ${snapshotId}`.execute(world.db)
      ).rows[0]?.at
    await expect.poll(leaseUntil).toBeDefined()
    // Advance the clock while polling: the next renewal is scheduled only after the previous one has returned.
    const secondsLeft = async (): Promise<number> => {
      world.clock.advance(1_000)
      return ((await leaseUntil())!.getTime() - world.clock.now().getTime()) / 1000
    }
    for (let passed = 0; passed < 3 * copyLeaseMs; passed += copyLeaseMs / 2) {
      world.clock.advance(copyLeaseMs / 2)
      await expect.poll(secondsLeft).toBeGreaterThan(copyLeaseMs / 1000 / 2)
    }
    expect(await takeCopy({ ...context, owner: 'other' }, snapshot)).toBeNull()
    goOn()
    expect(await taking).not.toBeNull()

    const left = await stopped()
    const now = world.clock.now()
    const lease = { owner: 'dead', until: new Date(now.getTime() + copyLeaseMs), now }
    await beginCopy(world.db, { ...snapshot, id: left.snapshotId }, lease)
    world.clock.advance(copyLeaseMs)
    await createCopier(context).run()
    expect(await copiedAt(left.snapshotId)).not.toBeNull()
  })

  it.each(['its chunks are named', 'its manifest is stored'])(
    'is taken over at once by a new sole process; a process that paused before %s cannot publish',
    async (place) => {
      const { snapshotId } = await stopped()
      const snapshot = { id: snapshotId, organizationId: world.organizationId, hostId: world.hostId }
      const [paused, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const at = async (where: string): Promise<void> => {
        if (where !== place) return
        paused.resolve()
        await goOn.promise
      }
      const nameChunks: typeof world.host.nameChunks = (...all) =>
        at('its chunks are named').then(() => world.host.nameChunks(...all))
      const put: CopyContext['store']['put'] = async (key, bytes) => {
        if (key.endsWith('/manifest')) await at('its manifest is stored')
        await context.store.put(key, bytes)
      }
      const taking = takeCopy(
        {
          ...context,
          owner: 'paused',
          gateway: { ...world.host, nameChunks },
          store: { ...context.store, put },
        },
        snapshot,
      )
      await paused.promise
      const next = createCopies({ ...context, owner: 'next' })
      await next.start()
      next.noticeHost()
      await expect.poll(() => copiedAt(snapshotId), { timeout: 60_000 }).not.toBeNull()
      goOn.resolve()
      await expect(taking).rejects.toThrow(CopyLost)
      await next.stop()
      const owners = await sql<{ owner: string }>`
      select lease_owner as owner from copies where snapshot_id = ${snapshotId}`.execute(world.db)
      expect(owners.rows).toEqual([{ owner: 'next' }])
      world.host.captures.delete(snapshotId)
      await sql`update snapshots set host_id = null where id = ${snapshotId}`.execute(world.db)
      await ensureCapture(context, snapshotId, world.hostId)
    },
  )
})

describe('a sweep', () => {
  it('removes only what no Snapshot needs, chunks after the grace time', async () => {
    const kept = await stopped()
    const gone = await stopped()
    await createCopier(context).run()
    const before = await objects()
    await remove(gone.dockId)
    expect((await sweepCopies(context)).copies).toBeGreaterThanOrEqual(1)
    // The chunks are still within the grace time.
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

  it('keeps a chunk that a new copy has just begun to use', async () => {
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

  it('removes stray objects of ended copies', async () => {
    const { snapshotId } = await stopped()
    await createCopier(context).run()
    const needed = await objects()
    const ended = newUuid()
    await sql`insert into ended_copies (id, begun_at) values (${ended}, ${world.clock.now()})`.execute(
      world.db,
    )
    await context.store.put(`${world.organizationId}/chunks/aa/stray-${ended}`, Buffer.from('x'))
    const later = { ...context, clock: { ...world.clock, now: () => new Date(Date.now() + 2 * graceMs) } }
    expect(await sweepStrayObjects(context)).toBe(0)
    expect(await sweepStrayObjects(later)).toBe(1)
    expect(await objects()).toEqual(needed)
    expect(await copiedAt(snapshotId)).not.toBeNull()
  })

  it('quarantines objects of unknown copies and keeps them until an operator deletes them', async () => {
    const unknown = newUuid()
    const keys = [`chunks/aa/name-${unknown}`, `copies/${unknown}/manifest`].map(
      (key) => `${world.organizationId}/${key}`,
    )
    for (const key of keys) await context.store.put(key, Buffer.from('xy'))
    const before = await objects()
    const later = { ...context, clock: { ...world.clock, now: () => new Date(Date.now() + 2 * graceMs) } }
    for (let round = 0; round < 2; round++) expect(await sweepStrayObjects(later)).toBe(0)
    expect(await objects()).toEqual(before)
    const { rows } = await sql<{ id: string; state: string; size_bytes: string }>`
      select id, state, size_bytes from quarantine where thing_id = ${unknown}`.execute(world.db)
    expect(rows).toMatchObject([{ state: 'held', size_bytes: 4 }])
    await deleteQuarantined(world, rows[0]!.id, operator)
    expect(await sweepStrayObjects(later)).toBe(2)
    expect(await objects()).toEqual(before.filter((key) => !keys.includes(key)))
  })

  it('removes objects of deleted organizations, even of unknown copies', async () => {
    const gone = newUuid()
    await sql`insert into erasures (kind, id) values ('organization', ${gone})`.execute(world.db)
    const before = await objects()
    await context.store.put(`${gone}/copies/${newUuid()}/manifest`, Buffer.from('x'))
    const later = { ...context, clock: { ...world.clock, now: () => new Date(Date.now() + 2 * graceMs) } }
    expect(await sweepStrayObjects(later)).toBe(1)
    expect(await objects()).toEqual(before)
    const { rows } = await sql`select 1 from quarantine where organization_id = ${gone}`.execute(world.db)
    expect(rows).toEqual([])
  })
})

describe('after a database restore', () => {
  const begin = (at: Date) =>
    sql`update instance_epoch set epoch = epoch + 1, begun_at = ${at}`.execute(world.db)
  afterEach(() =>
    sql`update instance_epoch set epoch = 0, begun_at = null, objects_checked = 0,
    copies_checked = 0`.execute(world.db),
  )
  const statusOf = async (id: string) =>
    (await sql<{ status: string }>`select status from snapshots where id = ${id}`.execute(world.db)).rows[0]
      ?.status

  it('a Snapshot fails if its copy lacks objects and no host keeps it; others stay completed', async () => {
    const [gone, kept] = [await stopped(), await stopped()]
    await createCopier(context).run()
    await checkCopies(context)
    expect(await statusOf(gone.snapshotId)).toBe('completed')
    await loseChunkOf(gone.snapshotId)
    await sql`update snapshots set host_id = null where id = ${gone.snapshotId}`.execute(world.db)
    await begin(world.clock.now())
    await checkCopies(context)
    expect([await statusOf(gone.snapshotId), await statusOf(kept.snapshotId)]).toEqual([
      'failed',
      'completed',
    ])
    expect(await copiedAt(kept.snapshotId)).not.toBeNull()
  })

  /** Runs `work` after the first list of objects. */
  const afterListing = (work: () => Promise<void>): CopyContext => {
    let isDone = false
    return {
      ...context,
      store: {
        ...context.store,
        list: async function* (prefix) {
          yield* context.store.list(prefix)
          if (isDone) return
          isDone = true
          await work()
        },
      },
    }
  }
  const loseChunkOf = async (snapshotId: string) => {
    const { rows } = await sql<{ key: string }>`select k.object_key as key from copies c
      join copy_chunk_uses u on u.copy_id = c.id
      join copy_chunks k on k.organization_id = u.organization_id and k.name = u.name
      where c.snapshot_id = ${snapshotId}`.execute(world.db)
    await context.store.delete(rows[0]!.key)
  }

  it('a copy that is made while the objects are listed is whole', async () => {
    const { snapshotId: broken } = await stopped()
    await createCopier(context).run()
    const { snapshotId } = await stopped()
    await loseChunkOf(broken)
    await begin(world.clock.now())
    await checkCopies(afterListing(() => createCopier(context).run()))
    expect(await copiedAt(broken)).toBeNull()
    expect(await copiedAt(snapshotId)).not.toBeNull()
    expect(await chunksOf(snapshotId)).toEqual({ used: 1, stored: 1 })
  })

  it('a missing chunk that no copy uses is stored again by the next copy', async () => {
    const { snapshotId } = await stopped()
    await createCopier(context).run()
    await loseChunkOf(snapshotId)
    await sql`delete from copies`.execute(world.db)
    await sql`update snapshots set copied_at = null where id = ${snapshotId}`.execute(world.db)
    await begin(world.clock.now())
    await checkCopies(context)
    const report = await takeCopy(context, {
      id: snapshotId,
      organizationId: world.organizationId,
      hostId: world.hostId,
    })
    expect(report).toMatchObject({ addedChunks: 1 })
  })

  it('chunks from before the restore stay until every object was checked', async () => {
    const { dockId } = await stopped()
    await createCopier(context).run()
    await remove(dockId)
    await sweepCopies(context)
    world.clock.advance(graceMs + 1)
    await begin(world.clock.now())
    expect((await sweepCopies(context)).chunks).toBe(0)
    world.clock.advance(graceMs + 1)
    await sweepStrayObjects(context)
    expect((await sweepCopies(context)).chunks).toBeGreaterThan(0)
  })
})

describe('without any grace time', () => {
  const hasty = () => ({ ...context, settings: { ...defaultCopySettings, graceMs: 0 } })
  /** Wraps a store so that both sweeps run at each step of a copy, with a clock that is a minute ahead of the store's. */
  const swept = (store: CopyContext['store']): CopyContext['store'] => {
    const sweepAll = async (): Promise<void> => {
      const later = { ...world.clock, now: () => new Date(Date.now() + 60_000) }
      await sweepCopies({ ...hasty(), clock: later })
      await sweepStrayObjects({ ...hasty(), clock: later })
    }
    return {
      ...store,
      put: async (key, bytes) => {
        await sweepAll()
        await store.put(key, bytes)
        await sweepAll()
      },
      get: async (key) => {
        const bytes = await store.get(key)
        await sweepAll()
        return bytes
      },
    }
  }

  it('sweeps remove nothing of a copy in progress and every object of an abandoned copy', async () => {
    const { snapshotId, dockId } = await stopped()
    await createCopier({ ...context, store: swept(context.store) }).run()
    expect(await copiedAt(snapshotId)).not.toBeNull()
    world.host.captures.delete(snapshotId)
    await sql`update snapshots set host_id = null where id = ${snapshotId}`.execute(world.db)
    await ensureCapture(context, snapshotId, world.hostId)
    await remove(dockId)

    const left = await stopped()
    const before = new Set(await objects())
    const store = { ...context.store, get: () => Promise.reject(new Error('the store is away')) }
    await createCopier({ ...context, store }).run()
    expect((await objects()).filter((key) => !before.has(key))).toHaveLength(1)
    await sweepStrayObjects({
      ...hasty(),
      clock: { ...world.clock, now: () => new Date(Date.now() + 60_000) },
    })
    expect((await objects()).filter((key) => !before.has(key))).toEqual([])
    await remove(left.dockId)
  })
})

describe('a drill', () => {
  /** Leaves a single copied Snapshot, since Snapshots of other tests would be drilled too. */
  const alone = async () => {
    for (const { id } of (await sql<{ id: string }>`select id from docks`.execute(world.db)).rows)
      await remove(id)
    await sql`delete from copies`.execute(world.db)
    await sql`delete from copy_chunks`.execute(world.db)
    const made = await stopped()
    await createCopier(context).run()
    return made
  }
  const due = () => world.clock.advance(drillAgainMs + 1)
  const spoil = async (part: string) => {
    const key = (await objects()).filter((each) => each.includes(part)).at(-1)!
    const bytes = await readFile(join(folder, key))
    bytes[20] = (bytes[20] ?? 0) ^ 1
    await writeFile(join(folder, key), bytes)
  }
  const unname = (id: string) => sql`update snapshots set host_id = null where id = ${id}`.execute(world.db)
  const damagedAt = async (id: string) =>
    (
      await sql<{ at: Date | null }>`select damaged_at as at from copies where snapshot_id = ${id}`.execute(
        world.db,
      )
    ).rows[0]?.at

  it('verifies an undamaged copy once a day', async () => {
    await alone()
    expect(await drillNext(context)).toBe(null)
    due()
    expect(await drillNext(context)).toBe('whole')
    expect(await drillNext(context)).toBe(null)
  })

  it.each(['/chunks/', '/manifest', '/index-'])(
    'finds a flipped byte in %s, and the Snapshot is copied again',
    async (part) => {
      const { snapshotId } = await alone()
      await spoil(part)
      due()
      expect(await drillNext(context)).toBe('damaged copy')
      expect(await copiedAt(snapshotId)).toBeNull()
      await createCopier(context).run()
      expect(await copiedAt(snapshotId)).not.toBeNull()
      due()
      expect(await drillNext(context)).toBe('whole')
    },
  )

  it('finds a missing chunk; without a capture the copy is marked as damaged and not restored', async () => {
    const { snapshotId } = await alone()
    await context.store.delete((await objects()).find((key) => key.includes('/chunks/'))!)
    await unname(snapshotId)
    world.host.captures.delete(snapshotId)
    due()
    expect(await drillNext(context)).toBe('damaged copy')
    expect(await damagedAt(snapshotId)).toBeInstanceOf(Date)
    await expect(ensureCapture(context, snapshotId, world.hostId)).rejects.toThrow(NoCopy)
    expect(world.host.captures.has(snapshotId)).toBe(false)
  })

  it('removes a capture that differs from its copy, and keeps the copy', async () => {
    const { snapshotId } = await alone()
    due()
    const nameChunks = async () => ({ diskBytes: 36, chunks: [{ index: 0, name: 'a'.repeat(64) }] })
    expect(await drillNext({ ...context, gateway: { ...world.host, nameChunks } })).toBe('damaged capture')
    const row = await sql<{ host: string | null }>`
      select host_id as host from snapshots where id = ${snapshotId}`.execute(world.db)
    expect(row.rows[0]!.host).toBeNull()
    world.host.captures.delete(snapshotId)
    await ensureCapture(context, snapshotId, world.hostId)
    expect(world.host.captures.has(snapshotId)).toBe(true)
  })

  it('takes organizations in turn, whatever they have to be drilled', async () => {
    const first = await alone()
    const [second, other] = [await stopped(), await stopped()]
    await createCopier(context).run()
    await sql`update copies set organization_id = ${newUuid()}
      where snapshot_id = ${other.snapshotId}`.execute(world.db)
    due()
    const next = async () => {
      const copy = (await findNextDrill(world.db, new Date(world.clock.now().getTime() - drillAgainMs)))!
      await recordWhole(world.db, copy, world.clock.now())
      world.clock.advance(1_000)
      return copy.snapshotId
    }
    expect(await next()).toBe(first.snapshotId)
    expect([await next(), await next()]).toEqual([other.snapshotId, second.snapshotId])
  })

  it('that fails does not stop the others, and is tried again later', async () => {
    const { snapshotId } = await alone()
    const other = await stopped()
    await createCopier(context).run()
    due()
    const { rows } = await sql<{ id: string }>`select id from copies
      where snapshot_id = ${snapshotId}`.execute(world.db)
    const get = (key: string) =>
      key.includes(rows[0]!.id) ? Promise.reject(new Error('input/output error')) : context.store.get(key)
    const failing = { ...context, store: { ...context.store, get } }
    await expect(drillNext(failing)).rejects.toThrow('input/output error')
    expect(await drillNext(failing)).toBe('whole')
    expect(await drillNext(failing)).toBeNull()
    world.clock.advance(3_600_000)
    await expect(drillNext(failing)).rejects.toThrow('input/output error')
    await remove(other.dockId)
  })

  it('records no damage if the store is unreachable or the Snapshot is deleted meanwhile', async () => {
    const { snapshotId, dockId } = await alone()
    due()
    const away = { ...context.store, get: () => Promise.reject(new Error('no route to the store')) }
    await expect(drillNext({ ...context, store: away })).rejects.toThrow('no route')
    const gone = {
      ...context.store,
      get: async (key: string) => {
        await remove(dockId)
        await sweepCopies(context)
        return context.store.get(key)
      },
    }
    expect(await copiedAt(snapshotId)).not.toBeNull()
    expect(await drillNext({ ...context, store: gone })).toBe(null)
  })
})

describe('an organization with zero data retention', () => {
  it('loses the objects of a deleted Snapshot at once, including those of a copy in progress', async () => {
    const { dockId } = await stopped()
    await createCopier(context).run()
    const { dockId: copied } = await stopped()
    await sql`update organizations set retention_enabled = true where id = ${world.organizationId}`.execute(
      world.db,
    )
    const put: CopyContext['store']['put'] = async (key, bytes) => {
      await context.store.put(key, bytes)
      await remove(copied)
      await sweepZeroRetention(context)
    }
    await createCopier({ ...context, store: { ...context.store, put } }, () => void 0).run()
    await remove(dockId)
    await sweepZeroRetention(context)
    const left = await sql<{ n: number }>`select count(*)::int as n from snapshots`.execute(world.db)
    const chunks = (await objects()).filter((key) => key.includes('/chunks/'))
    expect(chunks.length).toBe(left.rows[0]!.n)
    await sql`update organizations set retention_enabled = false where id = ${world.organizationId}`.execute(
      world.db,
    )
  })
})

describe('a deleted organization', () => {
  it('loses every object once its Snapshots are deleted', async () => {
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
  it('removes only copied captures of a crowded host, and they can be restored', async () => {
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
