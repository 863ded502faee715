/** Memory use while very long file lists are read, from a host and from the index of a copy, and sent in a response. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLogger } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openObjectStore } from '../../../object-store/index.ts'
import { createSealer, newRingEntry, parseKeyRing } from '../../../sealing/index.ts'
import { streamedSuccess } from '../../../server/envelope.ts'
import { stopDock } from '../../docks/index.ts'
import type { CaptureFile } from '../../hosts/index.ts'
import { createCopier } from './copier.ts'
import { type CopyContext, copyKeysColumn, indexKey } from './copy-context.ts'
import { defaultCopySettings } from './copy-settings.ts'
import { findIndexedCopy } from './copy-store.ts'
import { listFiles } from './list-files.ts'

const count = 300_000
const folder = '/'.padEnd(300, 'deep/')
const filesAtOnce = 500
const fileOf = (index: number): CaptureFile => ({ path: `${folder}${index}`, size: index, inode: index })
const mebibyte = 2 ** 20
setFlagsFromString('--expose-gc')
/** A few times the memory of one index part as text, as objects and as JSON. The whole list takes {@link wholeMiB}. */
const boundMiB = 24
const wholeMiB = 3 * boundMiB
const collectGarbage = runInNewContext('gc') as () => void

let database: FreshDatabase
let world: TestWorld
let context: CopyContext
let objects: string
let snapshot: { id: string; hostId: string | null }
let peak = 0

/** Collects twice: memory outside the heap is released only after the collection that found it unreachable. */
const heldNow = async (): Promise<number> => {
  collectGarbage()
  await nextTurn()
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Returns by how many bytes memory use grew at the peak of the work. */
const heldBy = async (work: () => Promise<void>): Promise<number> => {
  const before = await heldNow()
  peak = before
  await work()
  return peak - before
}

async function* manyFiles(): AsyncGenerator<CaptureFile[]> {
  for (let index = 0; index < count; index += filesAtOnce) {
    if (index % 60_000 === 0) peak = Math.max(peak, await heldNow())
    yield Array.from({ length: filesAtOnce }, (_, each) => fileOf(index + each))
  }
}

/** Reads a response to its end. Returns its length in bytes and its last characters. */
const readAll = async (files: AsyncIterable<CaptureFile[]>): Promise<{ bytes: number; end: string }> => {
  let [bytes, end, chunks] = [0, '', 0]
  for await (const chunk of streamedSuccess({ files }, 'files', 200).body!) {
    bytes += chunk.length
    end = Buffer.from(chunk).toString('utf8').slice(-100) || end
    if (chunks++ % 50 === 0) peak = Math.max(peak, await heldNow())
  }
  return { bytes, end }
}

beforeAll(async () => {
  database = await createFreshDatabase()
  world = await createTestWorld(database.db)
  objects = await mkdtemp(join(tmpdir(), 'list-files-'))
  const { db, clock, host } = world
  const logger = createLogger('list-files-test')
  logger.level = 'silent'
  const sealer = createSealer({ db, clock, ring: parseKeyRing(newRingEntry()), columns: [copyKeysColumn] })
  const store = openObjectStore(undefined, objects)
  const gateway = { ...host, listCaptureFiles: manyFiles }
  context = {
    db,
    clock,
    logger,
    gateway,
    sealer,
    store,
    owner: 'test',
    settings: defaultCopySettings,
    indexBytesMax: 2 ** 27,
  }
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  world.clock.advance(defaultCopySettings.ageMs)
  const rows = await sql<typeof snapshot>`select id, host_id as "hostId" from snapshots`.execute(db)
  snapshot = rows.rows[0]!
})
afterAll(async () => {
  await rm(objects, { recursive: true })
  await database.drop()
})

it.each(['from the host, before there is a copy', 'from the copy alone'])(
  'a list of 300,000 files is never in memory at once: %s',
  async (where) => {
    const isCopy = where.includes('alone')
    const held = await heldBy(async () => {
      if (isCopy) await createCopier(context).run()
      const tree = (): never => {
        throw new Error('no host is asked')
      }
      const reader = isCopy
        ? {
            ...context,
            gateway: { ...context.gateway, listCaptureFiles: tree, hostsWithControlLink: () => [] },
          }
        : context
      const { bytes, end } = await readAll(
        await listFiles(reader, { ...snapshot, hostId: isCopy ? null : snapshot.hostId }),
      )
      expect(bytes).toBeGreaterThan(count * folder.length)
      expect(end).toMatch(/\]\}\}$/)
    })
    expect(held / mebibyte).toBeLessThan(boundMiB)
  },
)

it('the measurement detects a whole list in memory', async () => {
  const held = await heldBy(async () => {
    const all = await Array.fromAsync(await listFiles(context, snapshot))
    peak = await heldNow()
    expect(all.flat()).toHaveLength(count)
  })
  expect(held / mebibyte).toBeGreaterThan(wholeMiB)
})

it('a disk with the longest file names, of characters that JSON escapes, is copied and listed', async () => {
  const long = (index: number): CaptureFile => ({
    ...fileOf(index),
    path: `/${index}`.padEnd(4_096, '\u0001'),
  })
  async function* tree(): AsyncGenerator<CaptureFile[]> {
    for (let batch = 0; batch < 30; batch++)
      yield Array.from({ length: 100 }, (_, each) => long(batch * 100 + each))
  }
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  world.clock.advance(defaultCopySettings.ageMs)
  await createCopier({ ...context, gateway: { ...context.gateway, listCaptureFiles: tree } }).run()
  const { rows } = await sql<
    typeof snapshot
  >`select id, null as "hostId" from snapshots where dock_id = ${dock.id}`.execute(database.db)
  const files = (await Array.fromAsync(await listFiles(context, rows[0]!))).flat()
  expect(files).toEqual(Array.from({ length: 3_000 }, (_, index) => long(index)))
})

it('lists the files from the host if the index of the copy is damaged', async () => {
  const copy = (await findIndexedCopy(context.db, snapshot.id))!
  await context.store.delete(indexKey(copy.organizationId, copy.id, 0))
  async function* tree(): AsyncGenerator<CaptureFile[]> {
    yield [fileOf(1)]
  }
  const reader = { ...context, gateway: { ...context.gateway, listCaptureFiles: tree } }
  expect((await Array.fromAsync(await listFiles(reader, snapshot))).flat()).toHaveLength(1)
})
