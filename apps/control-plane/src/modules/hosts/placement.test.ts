import { newUuid } from '@dock/foundation'
import { type FreshDatabase, freshDatabase } from '@dock/testkit'
import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  explainNoPlacement,
  hostCandidate,
  type PlacementPolicy,
  type PlacementRequest,
} from './placement.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  await sql`delete from hosts`.execute(database.db)
})

const gib = 1024 ** 3
const policy: PlacementPolicy = { cpuOvercommit: 128, memoryOvercommit: 24 }
const tenthOfMemory = Math.ceil(1.6 * gib)
const small = { cpus: 1, memoryMiB: 1024, diskGiB: 10 }

/** A host of 8 cores, 16 GiB and a pool of 100 GiB, with nothing on it. */
const host = async (over: RawBuilder<unknown> = sql`state = 'online'`): Promise<string> => {
  const id = newUuid()
  await sql`insert into hosts (id, address, credential_hash, runtime, cpu_family, kernel, boot_id, vcpu_total,
      mem_total_bytes, disk_total_bytes, max_docks, images, state, mem_available_bytes, disk_free_bytes, created_at)
    values (${id}, '', ${Buffer.from(id)}, 'gvisor', 'x86_64', 'linux', 'b', 8, ${16 * gib}, ${100 * gib}, 200,
      '{debian-13}', 'online', ${16 * gib}, ${100 * gib}, now())`.execute(database.db)
  await sql`update hosts set ${over} where id = ${id}`.execute(database.db)
  return id
}

/** The id of the host that is chosen, or the code of the reason why none is. */
const place = async (
  over: Partial<PlacementRequest> = {},
  limits: PlacementPolicy = policy,
): Promise<string> => {
  const ids = (await sql<{ id: string }>`select id from hosts`.execute(database.db)).rows.map(({ id }) => id)
  const request = { ...small, image: 'debian-13', only: null, linked: ids, ...over }
  const found = await sql<{ id: string }>`${hostCandidate(request, limits, sql<boolean>`true`)}`.execute(
    database.db,
  )
  if (found.rows[0]) return found.rows[0].id
  return explainNoPlacement(database.db, request, ['debian-13', 'ubuntu-24.04']).catch(
    (error: { code: string }) => error.code,
  )
}

describe('a place for a Dock', () => {
  it('is on the host that has the fewest for its size', async () => {
    await host(sql`reserved_slots = 30`)
    const emptier = await host(sql`reserved_slots = 50, max_docks = 400`)
    await host(sql`reserved_slots = 0, state = 'offline'`)
    expect(await place()).toBe(emptier)
  })

  it('is on the one host that must be, and on the one that is preferred while that has room', async () => {
    const [full, other] = [await host(sql`reserved_slots = 200`), await host()]
    expect(await place({ prefer: full })).toBe(other)
    expect(await place({ only: full })).toBe('capacity_exhausted')
    expect(await place({ only: newUuid() })).toBe('no_host_capacity')
  })

  it('is on the preferred host unless that is much fuller than others', async () => {
    const [preferred, other] = [await host(sql`reserved_slots = 59`), await host()]
    expect(await place({ prefer: preferred })).toBe(preferred)
    await sql`update hosts set reserved_slots = 70 where id = ${preferred}`.execute(database.db)
    expect(await place({ prefer: preferred })).toBe(other)
  })

  it('has at most half of a pool for a new disk, unless that is no larger than the default', async () => {
    await host()
    expect(await place({ diskGiB: 50 })).not.toBe('validation_error')
    expect(await place({ diskGiB: 51 })).toBe('validation_error')
    // A disk that is there already, of a Snapshot or Template, goes where it fits.
    expect(await place({ diskGiB: 51, image: null })).not.toBe('validation_error')
    await sql`update hosts set disk_total_bytes = ${30 * gib}, disk_free_bytes = ${30 * gib}`.execute(
      database.db,
    )
    expect(await place({ diskGiB: 20 })).not.toBe('validation_error')
    expect(await place({ diskGiB: 21 })).toBe('validation_error')
  })

  it('counts what each sandbox takes beyond its memory', async () => {
    await host(sql`reserved_slots = 9, reserved_memory_mib = ${9 * 1024}`)
    const guaranteed = { cpuOvercommit: 128, memoryOvercommit: 1 }
    // 16 GiB, less ten times 128 MiB and the 9 GiB that are taken.
    expect(await place({ memoryMiB: 5888 }, guaranteed)).not.toBe('capacity_exhausted')
    expect(await place({ memoryMiB: 5889 }, guaranteed)).toBe('capacity_exhausted')
  })

  it('is on any of those that are about equally empty, so that creates do not herd', async () => {
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

  it('avoids a host where starts have failed, but takes it before refusing', async () => {
    const [bad, other] = [await host(), await host(sql`reserved_slots = 150`)]
    expect(await place({ avoid: [bad] })).toBe(other)
    expect(await place({ avoid: [bad], prefer: bad })).toBe(other)
    await sql`update hosts set reserved_slots = 200 where id = ${other}`.execute(database.db)
    expect(await place({ avoid: [bad] })).toBe(bad)
  })

  it('counts sizes many times over, up to what the operator allows', async () => {
    const id = await host(sql`reserved_cpus = 8 * 128 - 1, reserved_memory_mib = 16 * 1024 * 24 - 1024 - 128`)
    expect(await place()).toBe(id)
    expect(await place({ cpus: 2 })).toBe('capacity_exhausted')
    expect(await place({ memoryMiB: 1025 })).toBe('capacity_exhausted')
    expect(await place({}, { cpuOvercommit: 1, memoryOvercommit: 24 })).toBe('capacity_exhausted')
    expect(await place({}, { cpuOvercommit: 128, memoryOvercommit: 1 })).toBe('capacity_exhausted')
  })

  it('is not given while less than a tenth of memory or pool is left, nor beyond the number of Docks', async () => {
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

  it('is on a host with a live link only', async () => {
    await host()
    expect(await place({ linked: [] })).toBe('no_host_capacity')
  })
})

describe('why there is none', () => {
  it('no host online goes before image and size', async () => {
    expect(await place({ image: 'nothing', cpus: 64 })).toBe('no_host_capacity')
    await host(sql`state = 'offline'`)
    expect(await place({ image: 'nothing', cpus: 64 })).toBe('no_host_capacity')
  })

  it('tells an image that nobody knows from one that no online host serves', async () => {
    await host()
    await host(sql`state = 'offline', images = '{special}'`)
    expect(await place({ image: 'nothing' })).toBe('image_unknown')
    expect(await place({ image: 'ubuntu-24.04' })).toBe('image_unavailable')
    expect(await place({ image: 'special' })).toBe('image_unavailable')
  })

  it('a disk needs the runtime that it was made under, unless its one host is away', async () => {
    const id = await host()
    expect(await place({ image: null, runtime: 'gvisor' })).toBe(id)
    expect(await place({ image: null, runtime: 'microvm' })).toBe('base_image_unavailable')
    expect(await place({ image: null, runtime: 'microvm', only: newUuid() })).toBe('no_host_capacity')
  })

  it('tells a size that no online host has from one that has no room now', async () => {
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
