import type { RuntimeName } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hostCandidate, type PlacementPolicy, type PlacementRequest, throwNoPlacement } from './placement.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await sql`truncate hosts, image_versions, removed_images cascade`.execute(database.db)
})

const gib = 1024 ** 3
const policy: PlacementPolicy = { cpuOvercommit: 128, memoryOvercommit: 24 }
const tenthOfMemory = Math.ceil(1.6 * gib)
const small = { cpus: 1, memoryMiB: 1024, diskGiB: 10 }

/** Adds an empty host with 8 cores, 16 GiB of memory and a pool of 100 GiB. */
const host = async (over: RawBuilder<unknown> = sql`state = 'online'`): Promise<string> => {
  const id = newUuid()
  await sql`insert into hosts (id, address, credential_hash, runtime, cpu_family, kernel, boot_id, vcpu_total,
      mem_total_bytes, disk_total_bytes, max_docks, images, state, mem_available_bytes, disk_free_bytes, created_at)
    values (${id}, '', ${Buffer.from(id)}, 'gvisor', 'x86_64', 'linux', 'b', 8, ${16 * gib}, ${100 * gib}, 200,
      '{debian-13}', 'online', ${16 * gib}, ${100 * gib}, now())`.execute(database.db)
  await sql`update hosts set ${over} where id = ${id}`.execute(database.db)
  return id
}

/** Returns the id of the chosen host, or throws why there is none. */
const placeOrThrow = async (
  over: Partial<PlacementRequest> = {},
  limits: PlacementPolicy = policy,
): Promise<string> => {
  const ids = (await sql<{ id: string }>`select id from hosts`.execute(database.db)).rows.map(({ id }) => id)
  const request = { ...small, image: 'debian-13', only: null, runtimes: null, linked: ids, ...over }
  const found = await sql<{ id: string }>`${hostCandidate(request, limits, sql<boolean>`true`)}`.execute(
    database.db,
  )
  if (found.rows[0]) return found.rows[0].id
  return throwNoPlacement(database.db, request, ['debian-13', 'ubuntu-24.04'])
}
/** Returns the id of the chosen host, or the error code if there is none. */
const place = (...given: Parameters<typeof placeOrThrow>): Promise<string> =>
  placeOrThrow(...given).catch((error: { code: string }) => error.code)

describe('a place for a Dock', () => {
  it('is on the host that is least full for its size', async () => {
    await host(sql`reserved_slots = 30`)
    const emptier = await host(sql`reserved_slots = 50, max_docks = 400`)
    await host(sql`reserved_slots = 0, state = 'offline'`)
    expect(await place()).toBe(emptier)
  })

  it('is only on the required host, and on the preferred host while that has room', async () => {
    const [full, other] = [await host(sql`reserved_slots = 200`), await host()]
    expect(await place({ prefer: full })).toBe(other)
    expect(await place({ only: full })).toBe('capacity_exhausted')
    expect(await place({ only: newUuid() })).toBe('no_host_capacity')
  })

  it('is on the preferred host unless it is much fuller than others', async () => {
    const [preferred, other] = [await host(sql`reserved_slots = 59`), await host()]
    expect(await place({ prefer: preferred })).toBe(preferred)
    await sql`update hosts set reserved_slots = 70 where id = ${preferred}`.execute(database.db)
    expect(await place({ prefer: preferred })).toBe(other)
  })

  it('limits a new disk above the default size to half of a pool', async () => {
    await host()
    expect(await place({ diskGiB: 50 })).not.toBe('validation_error')
    expect(await place({ diskGiB: 51 })).toBe('validation_error')
    // The disk of a Snapshot or Template exists already and only has to fit.
    expect(await place({ diskGiB: 51, image: null })).not.toBe('validation_error')
    await sql`update hosts set disk_total_bytes = ${30 * gib}, disk_free_bytes = ${30 * gib}`.execute(
      database.db,
    )
    expect(await place({ diskGiB: 20 })).not.toBe('validation_error')
    expect(await place({ diskGiB: 21 })).toBe('validation_error')
  })

  it('counts the memory that each sandbox takes beyond that of its Dock', async () => {
    await host(sql`reserved_slots = 9, reserved_memory_mib = ${9 * 1024}`)
    const guaranteed = { cpuOvercommit: 128, memoryOvercommit: 1 }
    // 16 GiB less ten times 128 MiB and the 9 GiB that are reserved.
    expect(await place({ memoryMiB: 5888 }, guaranteed)).not.toBe('capacity_exhausted')
    expect(await place({ memoryMiB: 5889 }, guaranteed)).toBe('capacity_exhausted')
  })

  it('counts no more memory beyond that of a Dock than its host reports', async () => {
    await host(sql`reserved_slots = 9, reserved_memory_mib = ${9 * 1024}, sandbox_headroom_mib = 0`)
    const guaranteed = { cpuOvercommit: 128, memoryOvercommit: 1 }
    expect(await place({ memoryMiB: 7168 }, guaranteed)).not.toBe('capacity_exhausted')
    expect(await place({ memoryMiB: 7169 }, guaranteed)).toBe('capacity_exhausted')
  })

  it('is on any of the hosts that are about equally empty, so that concurrent creates spread', async () => {
    const near = new Set([
      await host(sql`reserved_slots = 3`),
      await host(),
      await host(sql`reserved_slots = 9`),
    ])
    await host(sql`reserved_slots = 40`)
    const chosen = new Set<string>()
    for (let round = 0; round < 100; round++) chosen.add(await place())
    expect(chosen).toEqual(near)
  })

  it('is on a host where starts failed only if no other host has room', async () => {
    const [bad, other] = [await host(), await host(sql`reserved_slots = 150`)]
    expect(await place({ avoid: [bad] })).toBe(other)
    expect(await place({ avoid: [bad], prefer: bad })).toBe(other)
    await sql`update hosts set reserved_slots = 200 where id = ${other}`.execute(database.db)
    expect(await place({ avoid: [bad] })).toBe(bad)
  })

  it('overcommits cores and memory up to the operator’s limits', async () => {
    const id = await host(sql`reserved_cpus = 8 * 128 - 1, reserved_memory_mib = 16 * 1024 * 24 - 1024 - 128`)
    expect(await place()).toBe(id)
    expect(await place({ cpus: 2 })).toBe('capacity_exhausted')
    expect(await place({ memoryMiB: 1025 })).toBe('capacity_exhausted')
    expect(await place({}, { cpuOvercommit: 1, memoryOvercommit: 24 })).toBe('capacity_exhausted')
    expect(await place({}, { cpuOvercommit: 128, memoryOvercommit: 1 })).toBe('capacity_exhausted')
  })

  it('is never on a host with less than a tenth of memory or pool free, or with its maximum of Docks', async () => {
    const tenth = await host(sql`mem_available_bytes = ${tenthOfMemory}, disk_free_bytes = ${10 * gib}`)
    expect(await place()).toBe(tenth)
    await sql`update hosts set mem_available_bytes = ${tenthOfMemory - 1}`.execute(database.db)
    expect(await place()).toBe('capacity_exhausted')
    await sql`update hosts set mem_available_bytes = ${16 * gib}, disk_free_bytes = ${10 * gib - 1}`.execute(
      database.db,
    )
    expect(await place()).toBe('capacity_exhausted')
    await sql`update hosts set disk_free_bytes = ${100 * gib}, reserved_slots = 200`.execute(database.db)
    expect(await place()).toBe('capacity_exhausted')
  })

  it('is only on a connected host', async () => {
    await host()
    expect(await place({ linked: [] })).toBe('no_host_capacity')
  })
})

describe('the error if there is no host', () => {
  it('is no_host_capacity if no host is online, whatever the size, unless there is no such image', async () => {
    expect(await place({ cpus: 64 })).toBe('no_host_capacity')
    expect(await place({ image: 'nothing' })).toBe('image_unknown')
    await host(sql`state = 'offline'`)
    expect(await place({ cpus: 64 })).toBe('no_host_capacity')
    expect(await place({ image: 'nothing' })).toBe('image_unknown')
  })

  it('distinguishes an unknown image from one that no online host has', async () => {
    await host()
    await host(sql`state = 'offline', images = '{special}'`)
    expect(await place({ image: 'nothing' })).toBe('image_unknown')
    expect(await place({ image: 'ubuntu-24.04' })).toBe('image_unavailable')
    expect(await place({ image: 'special' })).toBe('image_unavailable')
  })

  it('is on no host for an image that the operator removed, although a host still has it', async () => {
    await host(sql`images = '{debian-13,special}', image_versions = '{"special":"sha256:1"}'`)
    const ours = await host(sql`images = '{debian-13,special}', image_versions = '{"special":"sha256:2"}'`)
    await sql`insert into removed_images (digest, name, removed_at) values ('sha256:1', 'special', now())`.execute(
      database.db,
    )
    expect(await place({ image: 'special' })).toBe(ours)
    await sql`insert into removed_images (digest, name, removed_at) values ('sha256:2', 'special', now())`.execute(
      database.db,
    )
    expect(await place({ image: 'special' })).toBe('image_unknown')
    await sql`insert into image_versions (id, name, built_as, digest, created_at)
      values (${newUuid()}, 'special', 'built:1', 'sha256:2', now())`.execute(database.db)
    expect(await place({ image: 'special' })).toBe(ours)
  })

  it('is base_image_unavailable if no host has the disk’s runtime, unless the required host is away', async () => {
    const id = await host()
    const disk = (runtime: RuntimeName) => ({ image: null, runtimes: [runtime] })
    expect(await place(disk('gvisor'))).toBe(id)
    await expect(placeOrThrow(disk('microvm'))).rejects.toMatchObject({
      code: 'base_image_unavailable',
      message:
        'No host of runtime microvm is online, only of gvisor. The disk was made under microvm and boots only there. Retry later.',
    })
    expect(await place({ ...disk('microvm'), only: newUuid() })).toBe('no_host_capacity')
  })

  it('names the runtime that the caller asked for', async () => {
    const id = await host()
    const asked = { runtimes: ['microvm' as const] }
    const why = (over: Partial<PlacementRequest>) => placeOrThrow({ ...asked, ...over })
    await expect(why({})).rejects.toMatchObject({
      code: 'no_host_capacity',
      message:
        'No host of runtime microvm is online, only of gvisor. Ask for no runtime, so that the host decides, or retry later.',
    })
    expect(await place({ ...asked, image: 'nothing' })).toBe('image_unknown')
    const other = await host(sql`runtime = 'microvm', vcpu_total = 2, max_docks = 1, images = '{special}'`)
    expect(await place({ ...asked, image: 'special' })).toBe(other)
    expect(await place({ runtimes: ['gvisor'] })).toBe(id)
    await expect(why({})).rejects.toMatchObject({
      code: 'image_unavailable',
      message: expect.stringContaining('No online host of runtime microvm has the image debian-13.'),
    })
    const special = { image: 'special' }
    await expect(why({ ...special, cpus: 4 })).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringContaining('any online host of runtime microvm'),
    })
    await sql`update hosts set reserved_slots = 1 where id = ${other}`.execute(database.db)
    await expect(why(special)).rejects.toMatchObject({
      code: 'capacity_exhausted',
      message: expect.stringContaining('No host of runtime microvm has room'),
    })
  })

  it('distinguishes a size above every online host from one that has no room now', async () => {
    const id = await host()
    await host(sql`state = 'offline', vcpu_total = 64, mem_total_bytes = ${256 * gib}`)
    expect(await place({ cpus: 8, memoryMiB: 16 * 1024, diskGiB: 50 })).toBe(id)
    expect(await place({ cpus: 9 })).toBe('validation_error')
    expect(await place({ memoryMiB: 16 * 1024 + 1 })).toBe('validation_error')
    expect(await place({ diskGiB: 101 })).toBe('validation_error')
    await sql`update hosts set reserved_slots = 200`.execute(database.db)
    expect(await place()).toBe('capacity_exhausted')
  })
})
