/** Snapshots whose capture two hosts keep: the host in `snapshots.host_id` and a second one. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { secondHost } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openObjectStore } from '../../../object-store/index.ts'
import { createSealer, newRingEntry, parseKeyRing } from '../../../sealing/index.ts'
import { stopDock } from '../../docks/index.ts'
import { beginRestore, endRestore } from '../captures/restore-store.ts'
import { checkCopies } from './check-copies.ts'
import { createCopier } from './copier.ts'
import { type CopyContext, copyKeysColumn } from './copy-context.ts'
import { defaultCopySettings } from './copy-settings.ts'
import { drillNext } from './drill-copies.ts'
import { evictCaptures } from './evict-captures.ts'
import { ensureCapture } from './restore-copy.ts'

const { ageMs, drillAgainMs } = defaultCopySettings

let world: TestWorld
let folder: string
let context: CopyContext
let first: string
let second: string
let snapshotId: string
/** Hosts whose capture is damaged. */
let damaged: Set<string>
let linked: string[]
useTestWorld(
  (fresh) => {
    world = fresh
  },
  { alone: true },
)

beforeEach(async () => {
  const { db, clock, host } = world
  first = world.hostId
  second = await secondHost(world)
  folder = await mkdtemp(join(tmpdir(), 'keepers-'))
  const logger = createLogger('keepers-test')
  logger.level = 'silent'
  const sealer = createSealer({ db, clock, ring: parseKeyRing(newRingEntry()), columns: [copyKeysColumn] })
  damaged = new Set()
  linked = [first, second]
  const nameChunks: typeof host.nameChunks = async (on, ...rest) =>
    damaged.has(on.hostId)
      ? { diskBytes: 36, chunks: [{ index: 0, name: 'a'.repeat(64) }] }
      : host.nameChunks(on, ...rest)
  const gateway = { ...host, nameChunks, hostsWithControlLink: () => linked, hostsWithBulkLink: () => linked }
  const store = openObjectStore(undefined, folder)
  context = { db, clock, logger, gateway, sealer, store, owner: 'test', settings: defaultCopySettings }
  await sql`update instance_epoch set epoch = 0, begun_at = null, copies_checked = 0`.execute(db)
  await sql`delete from copies`.execute(db)
  await sql`delete from copy_chunks`.execute(db)

  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  clock.advance(ageMs)
  await createCopier(context).run()
  snapshotId = (await sql<{ id: string }>`select id from snapshots where dock_id = ${dock.id}`.execute(db))
    .rows[0]!.id
  await ensureCapture(context, snapshotId, second)
  expect(await kept()).toEqual({ named: first, kept: [second] })
})
afterEach(() => rm(folder, { recursive: true }))

const kept = async () =>
  (
    await sql<{ named: string | null; kept: string[] }>`select host_id as named, array(select r.host_id::text
        from snapshot_restores r where r.snapshot_id = s.id and r.state = 'kept') as kept
      from snapshots s where s.id = ${snapshotId}`.execute(world.db)
  ).rows[0]!
const state = async () =>
  (
    await sql<{ status: string; isCopied: boolean }>`select status, copied_at is not null as "isCopied"
      from snapshots where id = ${snapshotId}`.execute(world.db)
  ).rows[0]!
const ordered = async () =>
  (
    await sql<{ hostId: string }>`select host_id as "hostId" from host_orders
      where thing_id = ${snapshotId}`.execute(world.db)
  ).rows.map(({ hostId }) => hostId)
/** Clears `host_id`, as happens if a restore to the first host failed before other hosts kept the capture. */
const unnameFirst = () => sql`update snapshots set host_id = null where id = ${snapshotId}`.execute(world.db)
const loseChunk = async () => {
  for await (const { key } of context.store.list(''))
    if (key.includes('/chunks/')) await context.store.delete(key)
}

it('a drill compares the captures of both hosts and removes the damaged one', async () => {
  damaged.add(second)
  world.clock.advance(drillAgainMs + 1)
  expect(await drillNext(context)).toBe('damaged capture')
  expect(await kept()).toEqual({ named: first, kept: [] })
  expect(await ordered()).toEqual([second])
})

it('a drill that removes the capture in host_id sets host_id to the other host', async () => {
  damaged.add(first)
  world.clock.advance(drillAgainMs + 1)
  expect(await drillNext(context)).toBe('damaged capture')
  expect((await kept()).named).toBe(second)
  expect(await ordered()).toEqual([first])
})

it('a drill does not remove a capture from a host while it is restored there', async () => {
  damaged.add(second)
  await beginRestore(world.db, { snapshotId, hostId: second }, world.clock.now())
  await sql`update snapshots set host_id = ${second} where id = ${snapshotId}`.execute(world.db)
  world.clock.advance(drillAgainMs + 1)
  await drillNext(context)
  expect(await ordered()).toEqual([])
})

it('a damaged copy is made again from a host that is not in host_id', async () => {
  await unnameFirst()
  await loseChunk()
  world.clock.advance(drillAgainMs + 1)
  expect(await drillNext(context)).toBe('damaged copy')
  expect((await kept()).named).toBe(second)
  await createCopier(context).run()
  expect(await state()).toEqual({ status: 'completed', isCopied: true })
})

it('a copy is made from any host that keeps the capture', async () => {
  await loseChunk()
  world.clock.advance(drillAgainMs + 1)
  expect(await drillNext(context)).toBe('damaged copy')
  linked = [second]
  await createCopier(context).run()
  expect(await state()).toEqual({ status: 'completed', isCopied: true })
})

it('after a database restore, missing objects do not fail a Snapshot that a host keeps', async () => {
  await unnameFirst()
  await loseChunk()
  await sql`update instance_epoch set epoch = 1, begun_at = ${world.clock.now()}`.execute(world.db)
  await checkCopies(context)
  expect(await state()).toEqual({ status: 'completed', isCopied: false })
  await createCopier(context).run()
  expect(await state()).toEqual({ status: 'completed', isCopied: true })
})

it('after a database restore, missing objects do not fail a Snapshot that is restored to a host', async () => {
  await unnameFirst()
  await beginRestore(world.db, { snapshotId, hostId: second }, world.clock.now())
  await loseChunk()
  await sql`update instance_epoch set epoch = 1, begun_at = ${world.clock.now()}`.execute(world.db)
  await checkCopies(context)
  expect((await state()).status).toBe('completed')
})

it('eviction removes restored captures too, and moves host_id to the other host', async () => {
  const crowd = (hostId: string) =>
    sql`update hosts set disk_total_bytes = 100, disk_free_bytes = case when id = ${hostId} then 5 else 90 end`.execute(
      world.db,
    )
  await crowd(second)
  expect(await evictCaptures(context)).toBe(1)
  expect(await kept()).toEqual({ named: first, kept: [] })
  expect(await ordered()).toEqual([second])
  await ensureCapture(context, snapshotId, second)
  await crowd(first)
  expect(await evictCaptures(context)).toBe(1)
  expect((await kept()).named).toBe(second)
  expect(await ordered()).toEqual([first])
})

it('a failed restore moves host_id to another host that keeps the capture', async () => {
  await endRestore(world.db, { snapshotId, hostId: first })
  expect((await kept()).named).toBe(second)
})
