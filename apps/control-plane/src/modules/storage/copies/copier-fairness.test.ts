/** What copies of one organization that fail or never end cost the others. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { openObjectStore } from '../../../object-store/index.ts'
import { createSealer, newRingEntry, parseKeyRing } from '../../../sealing/index.ts'
import { stopDock } from '../../docks/index.ts'
import { HostRefused } from '../../hosts/index.ts'
import { copiesAtOnce, createCopier } from './copier.ts'
import { type CopyContext, copyKeysColumn } from './copy-context.ts'
import { defaultCopySettings } from './copy-settings.ts'
import { findIndexedCopy } from './copy-store.ts'

const second = 1_000
let world: TestWorld
let folder: string
let context: CopyContext
/** The Snapshots in the order in which their copies began. */
let begun: string[]
let breaks: (snapshotId: string) => Promise<void> | undefined

useTestWorld(
  async (fresh) => {
    world = fresh
    folder = await mkdtemp(join(tmpdir(), 'copier-fairness-'))
    begun = []
    breaks = () => undefined
    const { db, clock, host } = world
    const logger = createLogger('copier-fairness-test')
    logger.level = 'silent'
    const sealer = createSealer({ db, clock, columns: [copyKeysColumn], ring: parseKeyRing(newRingEntry()) })
    const nameChunks: typeof host.nameChunks = async (place, keys) => {
      begun.push(place.captureId)
      await breaks(place.captureId)
      return host.nameChunks(place, keys)
    }
    context = {
      db,
      clock,
      logger,
      sealer,
      owner: 'test',
      settings: defaultCopySettings,
      gateway: { ...host, nameChunks },
      store: openObjectStore(undefined, folder),
    }
  },
  { alone: true },
)
afterEach(() => rm(folder, { recursive: true }))

const organization = async (): Promise<string> => {
  const id = newUuid()
  await sql`insert into organizations (id, name, slug) values (${id}, 'Org', ${`org-${id}`})`.execute(
    world.db,
  )
  return id
}

/** Creates Snapshots of the organization that are old enough to be copied. */
const snapshotsOf = async (organizationId: string, count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let each = 0; each < count; each++) {
    const dock = await world.create()
    await stopDock(world.modules.context, world.caller, dock.id, { force: false })
    world.clock.advance(second)
    const moved = await sql<{ id: string }>`update snapshots set organization_id = ${organizationId}
      where dock_id = ${dock.id} returning id`.execute(world.db)
    ids.push(moved.rows[0]!.id)
  }
  world.clock.advance(defaultCopySettings.ageMs)
  return ids
}

const isCopied = async (id: string): Promise<boolean> =>
  (
    await sql<{ is: boolean }>`select copied_at is not null as is from snapshots where id = ${id}`.execute(
      world.db,
    )
  ).rows[0]!.is

it('copies that fail never delay a Snapshot of another organization', async () => {
  const bombs = await snapshotsOf(await organization(), 6)
  const refused = new HostRefused('failed', 'the disk is slow')
  breaks = (id) => (bombs.includes(id) ? Promise.reject(refused) : undefined)
  const copier = createCopier(context)
  for (let hour = 0; hour < 4; hour++) {
    for (let round = 0; round < 60; round++) {
      await copier.run()
      world.clock.advance(60 * second)
    }
    const [victim] = await snapshotsOf(await organization(), 1)
    await copier.run()
    expect(await isCopied(victim!)).toBe(true)
  }
  // The failures cost turns of their own organization alone: at most one attempt in each of its pauses.
  expect(begun.filter((id) => bombs.includes(id)).length).toBeLessThan(60)
})

it('copies that never end leave places for others, and one organization holds one', async () => {
  const held = Promise.withResolvers<void>()
  const slow = await organization()
  const endless = await snapshotsOf(slow, 4)
  breaks = (id) => (endless.includes(id) ? held.promise : undefined)
  const copier = createCopier(context)
  const running = copier.run()
  await expect.poll(() => begun).toEqual([endless[0]])
  const [victim] = await snapshotsOf(await organization(), 1)
  // As the notice of a stop does. The copy that runs is not waited for.
  void copier.run()
  await expect.poll(() => isCopied(victim!)).toBe(true)
  expect(begun).toEqual([endless[0], victim])
  held.resolve()
  await running
  for (const id of endless) expect(await isCopied(id)).toBe(true)
})

it('organizations take turns: the second Snapshot of one waits for the first of each other', async () => {
  const ofMany = await snapshotsOf(await organization(), 5)
  const others: string[] = []
  for (let each = 0; each < 2 * copiesAtOnce; each++)
    others.push(...(await snapshotsOf(await organization(), 1)))
  await createCopier(context).run()
  expect(new Set(begun)).toEqual(new Set([...ofMany, ...others]))
  // Copies that begin together may reach the host in any order.
  expect(begun.indexOf(ofMany[0]!)).toBeLessThan(copiesAtOnce)
  expect(begun.indexOf(ofMany[1]!)).toBeGreaterThan(others.length + 1 - copiesAtOnce)
})

it('makes several copies at once', async () => {
  const held = Promise.withResolvers<void>()
  breaks = () => held.promise
  for (let each = 0; each <= copiesAtOnce; each++) await snapshotsOf(await organization(), 1)
  const running = createCopier(context).run()
  await expect.poll(() => begun.length).toBe(copiesAtOnce)
  held.resolve()
  await running
  expect(begun).toHaveLength(copiesAtOnce + 1)
})

it('pauses all copies if the store fails, which no tenant can cause', async () => {
  for (let each = 0; each < 6; each++) await snapshotsOf(await organization(), 1)
  const put = () => Promise.reject(new Error('no route to the store'))
  const copier = createCopier({ ...context, store: { ...context.store, put } })
  for (let round = 0; round < 20; round++) {
    await copier.run()
    world.clock.advance(second)
  }
  // The third failure pauses; as many may have been in progress.
  expect(begun.length).toBeLessThan(3 + copiesAtOnce)
})

it('a disk whose files cannot be listed is copied without an index after two failures', async () => {
  const [id] = await snapshotsOf(await organization(), 1)
  let listed = 0
  context.gateway.listCaptureFiles = async function* () {
    listed += 1
    yield [{ path: '/first', size: 1, inode: 12 }]
    throw new HostRefused('failed', 'debugfs was killed by SIGSEGV')
  }
  const copier = createCopier(context)
  for (let minute = 0; minute < 5; minute++) {
    await copier.run()
    world.clock.advance(60 * second)
  }
  expect(await isCopied(id!)).toBe(true)
  expect(listed).toBe(2)
  expect((await findIndexedCopy(world.db, id!))?.indexParts).toBe(0)
})
