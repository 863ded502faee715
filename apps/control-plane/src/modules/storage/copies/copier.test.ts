/** The copier when the store is full or copies fail. The store is on a real disk of a few MiB. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLogger } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { afterEach, expect, it } from 'vitest'
import { openObjectStore } from '../../../object-store/index.ts'
import { createSealer, newRingEntry, parseKeyRing } from '../../../sealing/index.ts'
import { stopDock } from '../../docks/index.ts'
import { HostRefused } from '../../hosts/index.ts'
import { createCopier } from './copier.ts'
import { type CopyContext, copyKeysColumn } from './copy-context.ts'
import { defaultCopySettings } from './copy-settings.ts'

const run = promisify(execFile)
const mib = 2 ** 20
let world: TestWorld
let disk: string
let context: CopyContext
let asked: string[]
let full: boolean[]
const loud: string[] = []

useTestWorld(
  async (fresh) => {
    world = fresh
    disk = await mkdtemp(join(tmpdir(), 'copier-'))
    await run('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', disk])
    asked = []
    full = []
    loud.length = 0
    const { db, clock, host } = world
    const logger = createLogger('copier-test', { write: (line) => loud.push(line) })
    logger.level = 'error'
    const sealer = createSealer({ db, clock, columns: [copyKeysColumn], ring: parseKeyRing(newRingEntry()) })
    const nameChunks: typeof host.nameChunks = (place, keys) => {
      asked.push(place.captureId)
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
      store: openObjectStore(undefined, join(disk, 'objects'), 2 * mib),
      metrics: {
        recordDrill: () => undefined,
        recordDelay: () => undefined,
        recordStoreFull: (isFull) => full.push(isFull),
      },
    }
  },
  { alone: true },
)
afterEach(async () => {
  await run('umount', [disk])
  await rm(disk, { recursive: true })
})

const stopped = async (): Promise<string> => {
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  world.clock.advance(1)
  const row = await sql<{ id: string }>`select id from snapshots where dock_id = ${dock.id}`.execute(world.db)
  return row.rows[0]!.id
}
const fill = () => writeFile(join(disk, 'of-the-database'), Buffer.alloc(7 * mib))
const empty = () => rm(join(disk, 'of-the-database'))
const uncopied = async (): Promise<number> =>
  (
    await sql<{ n: number }>`select count(*)::int as n from snapshots where copied_at is null`.execute(
      world.db,
    )
  ).rows[0]!.n

it('asks no host for data while the store is full, logs that, and continues once there is room', async () => {
  await stopped()
  await stopped()
  world.clock.advance(defaultCopySettings.ageMs)
  const copier = createCopier(context)
  await fill()
  for (let round = 0; round < 20; round++) {
    await copier.run()
    world.clock.advance(1_000)
  }
  expect(asked).toEqual([])
  expect(full).toEqual([true])
  expect(loud.join('')).toContain('the object store is full; copies pause')
  await empty()
  world.clock.advance(60_000)
  await copier.run()
  expect(await uncopied()).toBe(0)
  expect(full.at(-1)).toBe(false)
})

it('pauses when the disk fills during a copy, and then tries another Snapshot first', async () => {
  const [first, second] = [await stopped(), await stopped()]
  world.clock.advance(defaultCopySettings.ageMs)
  const { nameChunks } = context.gateway
  context.gateway.nameChunks = async (hostId, id, keys) => {
    if (asked.length === 0) await fill()
    return nameChunks(hostId, id, keys)
  }
  const copier = createCopier(context)
  await copier.run()
  await copier.run()
  expect(asked).toEqual([first])
  await empty()
  world.clock.advance(defaultCopySettings.retryMs)
  await copier.run()
  expect(asked).toEqual([first, second])
  world.clock.advance(defaultCopySettings.retryMs)
  await copier.run()
  expect(asked).toEqual([first, second, first])
  expect(await uncopied()).toBe(0)
})

it('pauses all copies after three consecutive failures of any kind', async () => {
  for (let each = 0; each < 6; each++) await stopped()
  world.clock.advance(defaultCopySettings.ageMs)
  context.gateway.nameChunks = async ({ captureId }) => {
    asked.push(captureId)
    throw new HostRefused('failed', 'the disk is slow')
  }
  const copier = createCopier(context)
  for (let round = 0; round < 20; round++) {
    await copier.run()
    world.clock.advance(1_000)
  }
  expect(asked).toHaveLength(3)
})
