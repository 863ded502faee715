/** A sample of script/prove captures, and tests that its checks detect differences. */
import { readdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { allFaults, captureRound, nameOf } from './capture-round.ts'
import { capturesIn } from './disk-host.ts'
import {
  createDiskDock,
  createStorageWorld,
  fillTree,
  fingerprint,
  fingerprintOfDisk,
  type StorageWorld,
  until,
} from './storage-world.ts'

/** Long, because processes start and stop. Each wait has its own timeout. */
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let database: FreshDatabase
let world: StorageWorld
beforeAll(async () => {
  database = await createFreshDatabase()
  world = await createStorageWorld(database.url, {
    DOCK_TEST_COPY_AGE_SECONDS: '0',
    DOCK_TEST_COPY_RETRY_SECONDS: '0.2',
    DOCK_COPY_DRILL_SECONDS: '0.2',
    DOCK_TEST_COPY_DRILL_AGAIN_SECONDS: '0',
  })
})
afterAll(async () => {
  await world?.end()
  await database.drop()
})

const wanted = ['disk:sync:before EIO after 0, stop', 'store:write ENOSPC after 0, stop']
it.each(wanted)('a completed Snapshot has the content of the disk: %s', async (name) => {
  const fault = allFaults().find((each) => nameOf(each) === name)!
  const outcome = await captureRound(world, fault, wanted.indexOf(name) + 1)
  expect(outcome).toMatchObject({ hit: true, problems: [] })
})

it('a fingerprint changes with a single byte', async () => {
  const { id } = await createDiskDock(world, 'seen')
  const root = world.host.mountOf(id)
  await fillTree(root, 7)
  const before = await fingerprint(root)
  await writeFile(join(root, 'one'), 'a')
  const after = await fingerprint(root)
  await writeFile(join(root, 'one'), 'b')
  expect(new Set([before, after, await fingerprint(root)]).size).toBe(3)
})

it('a damaged copy is not restored, and is replaced by a new copy of the capture', async () => {
  const { id: dockId } = await createDiskDock(world, 'damaged')
  const root = world.host.mountOf(dockId)
  await fillTree(root, 8)
  const held = await fingerprint(root)
  await world.client.call('stopDock', { params: { id: dockId }, body: {} })
  const { id } = (await world.client.call('readLatestSnapshot', { params: { id: dockId } }))!
  const copy = async () =>
    (
      await sql<{ id: string; keys: string[] }>`select c.id, array_agg(k.object_key) as keys from copies c
        join copy_chunk_uses u on u.copy_id = c.id
        join copy_chunks k on k.organization_id = u.organization_id and k.name = u.name
        where c.snapshot_id = ${id} and c.verified_at is not null group by c.id`.execute(world.database.db)
    ).rows[0]
  await until('the copy is made', async () => (await copy()) !== undefined)
  const first = (await copy())!
  await rm(join(world.objects, first.keys[0]!))
  await expect(world.restoreToScratch(id)).rejects.toThrow()
  await until('another copy is made', async () => ![undefined, first.id].includes((await copy())?.id))
  expect(await fingerprintOfDisk(await world.restoreToScratch(id))).toBe(held)
})

describe('an organization with zero data retention', () => {
  const onDisk = async (): Promise<string[]> => {
    // The folder does not exist before the first copy.
    const entries = await readdir(world.objects, { recursive: true, withFileTypes: true }).catch(() => [])
    // The instance's own records are not tenants' data, and are rewritten every few seconds.
    const ofTenants = entries.filter((entry) => entry.isFile() && basename(entry.parentPath) !== 'instance')
    const objects = ofTenants.map(({ name }) => name)
    return [...objects, ...(await capturesIn(world.host))]
  }

  it('soon has no data on any disk after turning it on, and none after any later stop', async () => {
    // Leftovers of failed attempts are removed by the daily sweep.
    const before = new Set(await onDisk())
    const fresh = async () => (await onDisk()).filter((name) => !before.has(name))
    const [archived, running] = [
      await createDiskDock(world, 'archived'),
      await createDiskDock(world, 'running'),
    ]
    await fillTree(world.host.mountOf(archived.id), 9)
    await world.client.call('stopDock', { params: { id: archived.id }, body: {} })
    await until('the copy is made', async () => {
      const rows =
        await sql`select 1 from snapshots where dock_id = ${archived.id} and copied_at is not null`.execute(
          world.database.db,
        )
      return rows.rows.length > 0
    })
    expect((await fresh()).length).toBeGreaterThan(3)
    await sql`update organizations set retention_enabled = true`.execute(world.database.db)
    await until('nothing is left on any disk', async () => (await fresh()).length === 0)
    await fillTree(world.host.mountOf(running.id), 10)
    await world.client.call('stopDock', { params: { id: running.id }, body: {} })
    expect(await fresh()).toEqual([])
    const disks = await readdir(join(world.host.poolDir, 'docks'))
    expect(disks.filter((id) => id === archived.id || id === running.id)).toEqual([])
  })
})
