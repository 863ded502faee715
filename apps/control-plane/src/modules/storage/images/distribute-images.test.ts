/** Publishing, delivery and cleanup of image versions, with a real database, a folder as object store, and a fake host. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openObjectStore } from '../../../object-store/index.ts'
import { createSealer, newRingEntry, parseKeyRing } from '../../../sealing/index.ts'
import { markBuilder } from '../../hosts/index.ts'
import { type CopyContext, copyKeysColumn } from '../copies/copy-context.ts'
import { defaultCopySettings } from '../copies/copy-settings.ts'
import { sweepCopies } from '../copies/sweep-copies.ts'
import { createImages, type Images, listBuildersOf, removeVersions } from '../index.ts'
import { checkIntervalMs, versionGraceMs } from './distribute-images.ts'

let database: FreshDatabase
let world: TestWorld
let folder: string
let context: CopyContext
let images: Images
let builder: string
let second: string

beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await sql`truncate organizations, users, hosts, join_tokens, image_versions, removed_images, copies, copy_chunks, copy_keys,
    data_keys     cascade`.execute(database.db)
  world = await createTestWorld(database.db)
  folder = await mkdtemp(join(tmpdir(), 'images-'))
  const logger = createLogger('images-test')
  logger.level = 'silent'
  const { db, clock, host } = world
  const sealer = createSealer({ db, clock, ring: parseKeyRing(newRingEntry()), columns: [copyKeysColumn] })
  builder = world.hostId
  second = newUuid()
  const gateway = { ...host, hostsWithControlLink: () => [builder, second] }
  context = {
    db,
    clock,
    logger,
    gateway,
    sealer,
    store: openObjectStore(undefined, folder),
    owner: 'test',
    settings: defaultCopySettings,
  }
  images = createImages(context)
  await markBuilder(db, builder, true)
  host.images.set(builder, new Map([['debian-13', 'disk one']]))
  await builtAs('built:one')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const builtAs = (version: string) =>
  sql`update hosts set image_versions = ${JSON.stringify({ 'debian-13': version })}::jsonb
    where id = ${builder}`.execute(world.db)
/** Adds a host that has no image. */
const addSecond = () =>
  sql`insert into hosts select (jsonb_populate_record(h, jsonb_build_object('id', ${second}::text,
    'credential_hash', '\\x01', 'images', '{}'::text[], 'image_versions', '{}'::jsonb, 'is_builder', false))).*
    from hosts h where h.id = ${builder}`.execute(world.db)
const onSecond = async (): Promise<{
  disk: string | undefined
  version: string | undefined
  names: string[]
}> => {
  const row = (
    await sql<{ names: string[]; versions: Record<string, string> }>`select images as names,
      image_versions as versions from hosts where id = ${second}`.execute(world.db)
  ).rows[0]!
  const disk = world.host.images.get(second)?.get('debian-13')
  return { disk, version: row.versions['debian-13'], names: row.names }
}
const versions = async (): Promise<{ id: string; builtAs: string; digest: string | null }[]> =>
  (
    await sql<{ id: string; builtAs: string; digest: string | null }>`select id, built_as as "builtAs", digest
      from image_versions order by created_at`.execute(world.db)
  ).rows
const rebuild = async (): Promise<void> => {
  world.host.images.set(builder, new Map([['debian-13', 'disk two']]))
  await builtAs('built:two')
  world.clock.advance(1000)
}
const chunkFiles = async (): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter((path) => /chunks\/..\/./.test(path))

it('is not published while the host that built it is the only host', async () => {
  await images.run()
  expect(await versions()).toEqual([])
})

it('is published once with a digest, and delivered to another host', async () => {
  await addSecond()
  await images.run()
  const [version, ...others] = await versions()
  expect(others).toEqual([])
  expect(version).toMatchObject({
    builtAs: 'built:one',
    digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  })
  expect(await onSecond()).toEqual({ disk: 'disk one', version: version?.digest, names: ['debian-13'] })
  // A second pass delivers and publishes nothing.
  world.host.images.set(second, new Map())
  await images.run()
  expect((await onSecond()).disk).toBeUndefined()
  expect(await versions()).toHaveLength(1)
})

it('replaces an older version on hosts after a rebuild', async () => {
  await addSecond()
  await images.run()
  const before = (await onSecond()).version
  await rebuild()
  await images.run()
  const after = await onSecond()
  expect(after).toMatchObject({ disk: 'disk two' })
  expect(after.version).not.toBe(before)
})

it('is never delivered from a damaged copy', async () => {
  await addSecond()
  await images.run()
  await sql`update hosts set image_versions = '{}' where id = ${second}`.execute(world.db)
  world.host.images.delete(second)
  const [chunk] = await chunkFiles()
  const bytes = await readFile(join(folder, chunk!))
  bytes[20] = (bytes[20] ?? 0) ^ 1
  await writeFile(join(folder, chunk!), bytes)
  await images.run()
  expect(await onSecond()).toMatchObject({ disk: undefined, version: undefined })
  await expect(images.ensureImage('debian-13', second)).rejects.toMatchObject({
    code: 'base_image_unavailable',
  })
})

it('is unavailable before it is published, and a start that needs it fails', async () => {
  await expect(images.ensureImage('debian-13', second)).rejects.toMatchObject({
    code: 'base_image_unavailable',
  })
  // The host reported the image but does not have it when the Dock starts.
  world.host.images.set(builder, new Map())
  const refused = world.create()
  await expect(refused).rejects.toMatchObject({ code: 'base_image_unavailable' })
})

it('is kept while a Dock or a host uses it, and is then deleted with its objects', async () => {
  const dock = await world.create()
  const row = await sql<{ version: string }>`select image_version as version from docks
    where id = ${dock.id}`.execute(world.db)
  expect(row.rows[0]).toEqual({ version: 'built:one' })
  await addSecond()
  await images.run()
  await rebuild()
  await images.run()
  const chunks = await chunkFiles()
  expect(chunks).toHaveLength(2)
  const sweep = async (): Promise<void> => {
    world.clock.advance(versionGraceMs + 1)
    await images.sweep()
    await sweepCopies(context)
    world.clock.advance(versionGraceMs + 1)
    await sweepCopies(context)
  }
  await sweep()
  expect((await versions()).map((each) => each.builtAs)).toEqual(['built:one', 'built:two'])
  await sql`delete from docks where id = ${dock.id}`.execute(world.db)
  await sweep()
  expect((await versions()).map((each) => each.builtAs)).toEqual(['built:two'])
  expect(await chunkFiles()).toHaveLength(1)
})

it('is published only by builders', async () => {
  await addSecond()
  await images.run()
  const published = await onSecond()
  // The second host claims to have built a newer version.
  world.host.images.set(second, new Map([['debian-13', 'evil disk']]))
  await sql`update hosts set image_versions = '{"debian-13": "built:evil"}' where id = ${second}`.execute(
    world.db,
  )
  const third = newUuid()
  await sql`insert into hosts select (jsonb_populate_record(h, jsonb_build_object('id', ${third}::text,
    'credential_hash', '\\x02', 'images', '{}'::text[], 'image_versions', '{}'::jsonb))).*
    from hosts h where h.id = ${second}`.execute(world.db)
  context.gateway.hostsWithControlLink = () => [builder, second, third]
  await images.run()
  expect(await versions()).toHaveLength(1)
  expect(world.host.images.get(third)?.get('debian-13')).toBe('disk one')
  // Positive control: once the host is a builder, its image is delivered to others.
  await markBuilder(world.db, second, true)
  world.clock.advance(1000)
  await images.run()
  expect(world.host.images.get(third)?.get('debian-13')).toBe('evil disk')
  expect(published.disk).toBe('disk one')
})

const anyBuild = { builtAs: expect.toSatisfy(() => true) }
it('may have any valid name if a builder built it, and joins the catalog', async () => {
  await addSecond()
  const had = { 'debian-13': 'built:one', own: 'built:own', '../evil': 'built:evil' }
  world.host.images.get(builder)!.set('own', 'own disk')
  await sql`update hosts set image_versions = ${JSON.stringify(had)}::jsonb, images = '{debian-13,own}'
    where id = ${builder}`.execute(world.db)
  expect(await images.listBuilt()).toContainEqual({
    ...anyBuild,
    name: 'own',
    version: 'built:own',
    available: true,
  })
  await images.run()
  expect(world.host.images.get(second)?.get('own')).toBe('own disk')
  expect((await versions()).map((each) => each.builtAs).toSorted()).toEqual(['built:one', 'built:own'])
  const digest = (await versions()).find((each) => each.builtAs === 'built:own')?.digest
  expect(await images.listBuilt()).toContainEqual({
    ...anyBuild,
    name: 'own',
    version: digest,
    available: true,
  })
  // A rebuilt image is shown at once, and not the version that was published earlier.
  const later = { ...had, own: 'built:later' }
  await sql`update hosts set image_versions = ${JSON.stringify(later)}::jsonb where id = ${builder}`.execute(
    world.db,
  )
  expect(await images.listBuilt()).toContainEqual({
    ...anyBuild,
    name: 'own',
    version: 'built:later',
    available: true,
  })
  // The published version stays in the catalog without a builder.
  await sql`update hosts set image_versions = '{}', images = '{}'`.execute(world.db)
  expect(await images.listBuilt()).toContainEqual({
    ...anyBuild,
    name: 'own',
    version: digest,
    available: false,
  })
})

it('is not in the catalog if only a host that is no builder has it', async () => {
  await addSecond()
  await sql`update hosts set images = '{evil}', image_versions = '{"evil": "built:evil"}'
    where id = ${second}`.execute(world.db)
  await images.run()
  expect((await images.listBuilt()).map(({ name }) => name)).toEqual(['debian-13'])
})

describe('an image that the operator removed', () => {
  const remove = async (): Promise<void> => {
    world.host.images.set(builder, new Map())
    await sql`update hosts set image_versions = '{}', images = '{}' where id = ${builder}`.execute(world.db)
    await removeVersions(world.db, 'debian-13', world.clock.now())
  }

  it('leaves the catalog, the hosts and the object store', async () => {
    await addSecond()
    await images.run()
    expect(await listBuildersOf(world.db, 'debian-13')).toEqual([{ id: builder, state: 'online' }])
    await remove()
    expect(await listBuildersOf(world.db, 'debian-13')).toEqual([])
    expect(await images.listBuilt()).toEqual([])
    await images.run()
    expect(await onSecond()).toEqual({ disk: undefined, version: undefined, names: [] })
    await sweepCopies(context)
    world.clock.advance(versionGraceMs + 1)
    await sweepCopies(context)
    expect(await chunkFiles()).toEqual([])
  })

  it('is removed from a host that was away, and from no host that has another version', async () => {
    await addSecond()
    await images.run()
    const hosts = sql<{
      version: string
    }>`select image_versions ->> 'debian-13' as version from hosts where id = ${second}`
    const { version } = (await hosts.execute(world.db)).rows[0]!
    await sql`update hosts set state = 'offline' where id = ${second}`.execute(world.db)
    await remove()
    await images.run()
    expect((await onSecond()).disk).toBe('disk one')
    await sql`update hosts set state = 'online', image_versions = '{"debian-13": "built:mine"}'
      where id = ${second}`.execute(world.db)
    await images.run()
    expect((await onSecond()).disk).toBe('disk one')
    await sql`update hosts set image_versions = ${JSON.stringify({ 'debian-13': version })}::jsonb
      where id = ${second}`.execute(world.db)
    await images.run()
    expect((await onSecond()).disk).toBeUndefined()
  })

  it('can be built and published again', async () => {
    await addSecond()
    await images.run()
    await remove()
    await images.run()
    world.host.images.set(builder, new Map([['debian-13', 'disk one']]))
    await builtAs('built:one')
    await images.run()
    expect((await onSecond()).disk).toBe('disk one')
    await images.run()
    expect((await onSecond()).disk).toBe('disk one')
  })
})

it('keeps the digest with which it was published', async () => {
  await addSecond()
  await images.run()
  const [first] = await versions()
  world.host.images.set(builder, new Map([['debian-13', 'other disk']]))
  world.host.images.delete(second)
  await sql`update hosts set image_versions = '{}' where id = ${second}`.execute(world.db)
  await images.run()
  expect(await versions()).toEqual([first])
  expect((await onSecond()).disk).toBe('disk one')
})

it('runs one pass for the reports of many hosts, and one more for later reports', async () => {
  let looks = 0
  const counted = createImages({
    ...context,
    gateway: {
      ...context.gateway,
      hostsWithControlLink: () => {
        looks += 1
        return []
      },
    },
  })
  for (let report = 0; report < 50; report++) counted.checkSoon()
  await counted.run()
  const first = looks
  expect(first).toBeLessThanOrEqual(2)
  world.clock.advance(checkIntervalMs)
  await counted.run()
  expect(looks - first).toBeGreaterThanOrEqual(1)
  expect(looks - first).toBeLessThanOrEqual(2)
  for (let report = 0; report < 50; report++) counted.checkSoon()
  await counted.stop()
  const last = looks
  world.clock.advance(10 * checkIntervalMs)
  expect(looks).toBe(last)
})
