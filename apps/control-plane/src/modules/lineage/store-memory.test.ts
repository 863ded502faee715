import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newUuid, systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import pino from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ObjectStore, openObjectStore } from '../../object-store/index.ts'
import { type Erased, listErasures, recordErasures } from './erasures.ts'
import { createLineage, type Lineage } from './lineage.ts'
import { createStoreMemory, type StoreMemory } from './store-memory.ts'

let database: FreshDatabase
let folder: string
let store: ObjectStore
beforeEach(async () => {
  database = await createFreshDatabase()
  folder = await mkdtemp(join(tmpdir(), 'dock-store-memory-'))
  store = openObjectStore(undefined, join(folder, 'objects'))
})
afterEach(async () => {
  await database.drop()
  await rm(folder, { recursive: true })
})

type Started = { lineage: Lineage; memory: StoreMemory; erasedAgain: Erased[] }
const started = async (on: ObjectStore = store, fails = false): Promise<Started> => {
  const parts = { db: database.db, clock: systemClock, logger: pino({ level: 'silent' }) }
  const lineage = createLineage(parts)
  await lineage.begin()
  const erasedAgain: Erased[] = []
  const reapplyErasures = async (erased: readonly Erased[]): Promise<void> => {
    if (fails) throw new Error('planted')
    erasedAgain.push(...erased)
  }
  return {
    lineage,
    memory: createStoreMemory({ ...parts, store: on, lineage, reapplyErasures }),
    erasedAgain,
  }
}
const works = async ({ lineage, memory }: Started): Promise<void> => {
  await lineage.advance()
  await memory.keep()
}
const erased = (): Erased[] => [
  { kind: 'person', id: newUuid() },
  { kind: 'organization', id: newUuid() },
]
const erase = (what: Erased[]) => recordErasures(database.db, what, systemClock.now())
const known = () => listErasures(database.db, { offset: 0, limit: 100 })
/** Restores the database to before the first start of the instance. */
const restore = async (): Promise<void> => {
  await sql`delete from instance_starts`.execute(database.db)
  await sql`delete from erasures`.execute(database.db)
}
/** Wraps the store and records the keys of all writes. */
const watched = (): { store: ObjectStore; written: string[] } => {
  const written: string[] = []
  const put: ObjectStore['put'] = (key, bytes) => {
    written.push(key)
    return store.put(key, bytes)
  }
  return { store: { ...store, put }, written }
}

it('begins no new epoch if the database knows the start that the store remembers', async () => {
  await works(await started())
  const next = await started()
  await next.memory.compareStore()
  await works(next)
  expect(next.lineage.epoch()).toBe(0)
})

it('detects a restored database by the store alone, and applies forgotten erasures again', async () => {
  const first = await started()
  const gone = erased()
  await erase(gone)
  await works(first)
  await restore()

  const second = await started()
  await second.memory.compareStore()
  expect(second.lineage.epoch()).toBe(1)
  expect(second.erasedAgain).toHaveLength(2)
  expect(second.erasedAgain).toEqual(expect.arrayContaining(gone))
  expect(await known()).toHaveLength(2)

  await works(second)
  const third = await started()
  await third.memory.compareStore()
  expect([third.lineage.epoch(), third.erasedAgain]).toEqual([1, []])
})

it('writes only objects that changed', async () => {
  const { store: on, written } = watched()
  const instance = await started(on)
  await works(instance)
  expect(written).toEqual(['instance/mark'])
  await instance.memory.keep()
  expect(written).toHaveLength(1)
  await erase(erased())
  await works(instance)
  expect(written).toEqual(['instance/mark', 'instance/erasures', 'instance/mark'])
})

it('does not wait for an unavailable store, does not write to it, and compares once it is back', async () => {
  await works(await started())
  await restore()
  let isAway = true
  const { store: seen, written } = watched()
  const get: ObjectStore['get'] = (key) => (isAway ? Promise.reject(new Error('away')) : store.get(key))
  const second = await started({ ...seen, get })
  await second.memory.compareStore()
  await expect(works(second)).rejects.toThrow('away')
  expect([second.lineage.epoch(), written]).toEqual([0, []])
  isAway = false
  await works(second)
  expect([second.lineage.epoch(), written]).toEqual([1, ['instance/mark']])
})

it('throws if an object cannot be parsed, and does not overwrite it', async () => {
  await store.put('instance/mark', Buffer.from('{}'))
  const { store: on, written } = watched()
  await expect(works(await started(on))).rejects.toThrow()
  expect(written).toEqual([])
})

it('retries a failed erasure at the next start', async () => {
  const gone = erased()
  await erase(gone)
  await works(await started())
  await restore()
  const failing = await started(store, true)
  await failing.memory.compareStore()
  expect(await known()).toEqual([])
  const next = await started()
  await next.memory.compareStore()
  expect(next.erasedAgain).toHaveLength(2)
})
