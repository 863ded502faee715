/** Placement of Docks: SQL fragments that choose a host and reserve its room, and the error if no host has room. */
import { limits, type RuntimeName, ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

export type PlacementPolicy = { cpuOvercommit: number; memoryOvercommit: number }

export type PlacementRequest = {
  cpus: number
  memoryMiB: number
  diskGiB: number
  /** The image that the host must have. Null if the disk does not come from an image. */
  image: string | null
  /** The only host that is allowed: the one with the capture, if there is no copy. Null allows every host. */
  only: string | null
  /** The host with the capture. It is chosen unless it is much fuller than others. */
  prefer?: string | null
  /** The runtimes that a host may have; see {@link runtimesFor}. Null allows every runtime. */
  runtimes: readonly RuntimeName[] | null
  /** Ids of connected hosts. */
  linked: readonly string[]
  /** Hosts on which starts failed recently. They are chosen only if no other host has room. */
  avoid?: readonly string[]
}

/**
 * Hosts are compared in steps of this share of their slots. Among hosts in the same step one is chosen at random, so that
 * concurrent creates, which see the same numbers, do not all choose the same host.
 */
const equalShare = 0.05
/** How many steps fuller than others the preferred host may be. */
const preferredSteps = 6

const gib = 1024 * 1024 * 1024
const mib = 1024 * 1024

/** Largest share of a pool that a new disk above the default size may take, so that one Dock cannot fill the pool. */
export const poolShareMax = 0.5

const poolBytesFor = ({ diskGiB, image }: PlacementRequest): number =>
  image !== null && diskGiB > limits.diskGiB.default ? (diskGiB * gib) / poolShareMax : diskGiB * gib
const fitsSize = (r: PlacementRequest): RawBuilder<boolean> => sql<boolean>`(
  h.vcpu_total >= ${r.cpus} and h.mem_total_bytes >= ${r.memoryMiB * mib} and h.disk_total_bytes >= ${poolBytesFor(r)})`
const linked = (r: PlacementRequest): RawBuilder<boolean> => sql<boolean>`(
  h.state = 'online' and h.id = any(${r.linked}::uuid[]) and (${r.only}::uuid is null or h.id = ${r.only}::uuid))`
const online = (r: PlacementRequest): RawBuilder<boolean> => sql<boolean>`(${linked(r)}
  and (${r.runtimes}::text[] is null or h.runtime = any(${r.runtimes}::text[])))`
/** A host deletes an image that the operator removed within a minute, or when it returns. No Dock starts from it until then. */
const isRemoved = (r: PlacementRequest): RawBuilder<boolean> => sql<boolean>`exists (
  select 1 from removed_images r where r.digest = h.image_versions ->> ${r.image}::text
    and not exists (select 1 from image_versions v where v.digest = r.digest))`
const serves = (r: PlacementRequest): RawBuilder<boolean> =>
  sql<boolean>`(${r.image}::text is null or (${r.image}::text = any(h.images) and not ${isRemoved(r)}))`

/**
 * SQL `select` of one host with room, which locks its row. Sizes are upper limits, so cores and memory are overcommitted.
 * A host with less than 10 % of its memory or pool free takes no new Docks. `after`: a condition that is always true, and
 * whose evaluation takes the locks that must be taken before the host's.
 */
export function hostCandidate(
  r: PlacementRequest,
  policy: PlacementPolicy,
  after: RawBuilder<boolean>,
  /** Skips hosts that are locked, for a caller that holds a host's lock already. */
  passesHeld = false,
): RawBuilder<unknown> {
  return sql`
  select h.id, h.runtime from hosts h
  where ${after} and ${online(r)} and ${serves(r)} and ${fitsSize(r)}
    and h.reserved_slots < h.max_docks
    and h.reserved_cpus + ${r.cpus} <= h.vcpu_total * ${policy.cpuOvercommit}::float8
    and (h.reserved_memory_mib + ${r.memoryMiB} + h.sandbox_headroom_mib * (h.reserved_slots + 1)) * ${mib}::float8 <= h.mem_total_bytes * ${policy.memoryOvercommit}::float8
    and h.mem_available_bytes * 10 >= h.mem_total_bytes and h.disk_free_bytes * 10 >= h.disk_total_bytes
  order by h.id = any(${r.avoid ?? []}::uuid[]),
    floor(h.reserved_slots / (h.max_docks * ${equalShare}::float8))
      - case when h.id = ${r.prefer ?? null}::uuid then ${preferredSteps}::int else 0 end,
    coalesce(h.id = ${r.prefer ?? null}::uuid, false) desc, random() limit 1
  for no key update ${passesHeld ? sql`skip locked` : sql``}`
}

/**
 * SQL that reserves room for a Dock on the hosts of the relation `hosts`, which has the column `id`, if `given` holds.
 * Returns `id`, `runtime` and `image_versions` of each host.
 */
export function reserveRoom(
  r: Pick<PlacementRequest, 'cpus' | 'memoryMiB' | 'diskGiB'>,
  hosts: RawBuilder<unknown>,
  given: RawBuilder<boolean> = sql<boolean>`true`,
): RawBuilder<unknown> {
  return sql`update hosts h set reserved_cpus = h.reserved_cpus + ${r.cpus},
      reserved_memory_mib = h.reserved_memory_mib + ${r.memoryMiB},
      reserved_disk_gib = h.reserved_disk_gib + ${r.diskGiB}, reserved_slots = h.reserved_slots + 1
    from ${hosts} c where h.id = c.id and ${given} returning h.id, h.runtime, h.image_versions`
}

/** SQL that releases the room of `docks`, a relation with the columns `host_id`, `cpus`, `memory_mib` and `disk_gib`. */
export function releaseRoom(docks: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`update hosts h set reserved_cpus = h.reserved_cpus - r.cpus,
      reserved_memory_mib = h.reserved_memory_mib - r.memory_mib,
      reserved_disk_gib = h.reserved_disk_gib - r.disk_gib, reserved_slots = h.reserved_slots - 1
    from ${docks} r where h.id = r.host_id`
}

/** Always throws: the `ServiceError` that says why {@link hostCandidate} found no host. */
export async function throwNoPlacement(
  db: Db,
  r: PlacementRequest,
  catalog: readonly string[],
): Promise<never> {
  const result = await sql<{
    linked: RuntimeName[]
    online: number
    serving: number
    fitting: number
    known: boolean
  }>`
    select coalesce(array_agg(distinct h.runtime) filter (where ${linked(r)}), '{}') as linked,
      (count(*) filter (where ${online(r)}))::int as online,
      (count(*) filter (where ${online(r)} and ${serves(r)}))::int as serving,
      (count(*) filter (where ${online(r)} and ${fitsSize(r)}))::int as fitting,
      coalesce(bool_or(${serves(r)}), false) as known
    from hosts h`.execute(db)
  const { serving, fitting, known, ...hosts } = result.rows[0]!
  const wanted = r.runtimes?.join(' or ')
  const ofRuntime = wanted === undefined ? '' : ` of runtime ${wanted}`
  // Waiting for a host does not help if there is no such image.
  if (r.image !== null && !known && !catalog.includes(r.image)) throw new ServiceError('image_unknown')
  if (hosts.linked.length === 0) throw new ServiceError('no_host_capacity')
  if (hosts.online === 0) {
    const others = `No host${ofRuntime} is online, only of ${hosts.linked.join(' and ')}.`
    if (r.image === null)
      throw new ServiceError('base_image_unavailable', {
        message: `${others} The disk was made under ${wanted} and boots only there. Retry later.`,
      })
    throw new ServiceError('no_host_capacity', {
      message: `${others} Ask for no runtime, so that the host decides, or retry later.`,
    })
  }
  if (serving === 0)
    throw new ServiceError('image_unavailable', {
      message: `No online host${ofRuntime} has the image ${r.image}. Choose one from GET /v1/images. The operator builds this one with: script/image ${r.image}`,
    })
  if (fitting === 0)
    throw new ServiceError('validation_error', {
      message: `cpus, memoryMiB or diskGiB is larger than any online host${ofRuntime} allows. A new disk may take half of a pool.`,
    })
  throw new ServiceError('capacity_exhausted', {
    message: `No host${ofRuntime} has room for this size now. Choose a smaller size or retry later.`,
  })
}
