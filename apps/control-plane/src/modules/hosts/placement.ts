/** Where a Dock goes: the fragments that reserve room on a host inside a larger statement, and why there is none. */
import { limits, ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

export type PlacementPolicy = { cpuOvercommit: number; memoryOvercommit: number }

export type PlacementRequest = {
  cpus: number
  memoryMiB: number
  diskGiB: number
  /** Null where the disk does not come from an image: the host then needs none. */
  image: string | null
  /** The one host it may go to: where its capture is, as long as there is no copy of it. */
  only: string | null
  /** The host that is taken unless it is much fuller than others: its capture is there. */
  prefer?: string | null
  /** The runtime that its disk was made under; any when absent. */
  runtime?: string | null
  /** Hosts with a live link. */
  linked: readonly string[]
  /** Hosts that are taken only where no other has room: starts failed there a moment ago. */
  avoid?: readonly string[]
}

/**
 * Hosts count as equally full within a step of this share of their slots: one of them is chosen at random, so that creates
 * that see the same picture do not all go to one host.
 */
const equalShare = 0.05
/** How many steps fuller than another the preferred host may be. */
const preferredSteps = 6

const gib = 1024 * 1024 * 1024
const mib = 1024 * 1024

/** What a host spends on a sandbox beyond its Dock's memory (decision 060). */
const headroomMiB = 128
/** A new disk larger than the default takes at most this share of a pool: one Dock alone must not be able to fill it. */
const poolShareMax = 0.5

const poolBytesFor = ({ diskGiB, image }: PlacementRequest): number =>
  image !== null && diskGiB > limits.diskGiB.default ? (diskGiB * gib) / poolShareMax : diskGiB * gib
const fitsSize = (r: PlacementRequest): RawBuilder<boolean> => sql<boolean>`(
  h.vcpu_total >= ${r.cpus} and h.mem_total_bytes >= ${r.memoryMiB * mib} and h.disk_total_bytes >= ${poolBytesFor(r)})`
const linked = (r: PlacementRequest): RawBuilder<boolean> => sql<boolean>`(
  h.state = 'online' and h.id = any(${r.linked}::uuid[]) and (${r.only}::uuid is null or h.id = ${r.only}::uuid))`
const online = (r: PlacementRequest): RawBuilder<boolean> => sql<boolean>`(${linked(r)}
  and (${r.runtime ?? null}::text is null or h.runtime = ${r.runtime ?? null}::text))`
const serves = (r: PlacementRequest): RawBuilder<boolean> =>
  sql<boolean>`(${r.image}::text is null or ${r.image}::text = any(h.images))`

/**
 * `select` of one host with room, its row locked. Sizes are limits, so cores and memory are overcommitted; real
 * pressure (under 10 % of memory or pool left) keeps new Docks away. `after` is true, and awaits the locks that go first.
 */
export function hostCandidate(
  r: PlacementRequest,
  policy: PlacementPolicy,
  after: RawBuilder<boolean>,
  /** Whether a host that another change holds is passed over, for a caller that holds a host already. */
  passesHeld = false,
): RawBuilder<unknown> {
  return sql`
  select h.id, h.runtime from hosts h
  where ${after} and ${online(r)} and ${serves(r)} and ${fitsSize(r)}
    and h.reserved_slots < h.max_docks
    and h.reserved_cpus + ${r.cpus} <= h.vcpu_total * ${policy.cpuOvercommit}::float8
    and (h.reserved_memory_mib + ${r.memoryMiB} + ${headroomMiB} * (h.reserved_slots + 1)) * ${mib}::float8 <= h.mem_total_bytes * ${policy.memoryOvercommit}::float8
    and h.mem_available_bytes * 10 >= h.mem_total_bytes and h.disk_free_bytes * 10 >= h.disk_total_bytes
  order by h.id = any(${r.avoid ?? []}::uuid[]),
    floor(h.reserved_slots / (h.max_docks * ${equalShare}::float8))
      - case when h.id = ${r.prefer ?? null}::uuid then ${preferredSteps}::int else 0 end,
    coalesce(h.id = ${r.prefer ?? null}::uuid, false) desc, random() limit 1
  for no key update ${passesHeld ? sql`skip locked` : sql``}`
}

/** `set` list that counts a Dock on the host row `hosts`. */
export function reserveSize(
  r: Pick<PlacementRequest, 'cpus' | 'memoryMiB' | 'diskGiB'>,
): RawBuilder<unknown> {
  return sql`reserved_cpus = hosts.reserved_cpus + ${r.cpus}, reserved_memory_mib = hosts.reserved_memory_mib + ${r.memoryMiB},
    reserved_disk_gib = hosts.reserved_disk_gib + ${r.diskGiB}, reserved_slots = hosts.reserved_slots + 1`
}

/** Throws the reason for which {@link hostCandidate} found no host. */
export async function explainNoPlacement(
  db: Db,
  r: PlacementRequest,
  catalog: readonly string[],
): Promise<never> {
  const result = await sql<{
    linked: number
    online: number
    serving: number
    fitting: number
    known: boolean
  }>`
    select (count(*) filter (where ${linked(r)}))::int as linked,
      (count(*) filter (where ${online(r)}))::int as online,
      (count(*) filter (where ${online(r)} and ${serves(r)}))::int as serving,
      (count(*) filter (where ${online(r)} and ${fitsSize(r)}))::int as fitting,
      coalesce(bool_or(${serves(r)}), false) as known
    from hosts h`.execute(db)
  const { serving, fitting, known, ...hosts } = result.rows[0]!
  if (hosts.linked === 0) throw new ServiceError('no_host_capacity')
  // A disk boots only under the runtime, and so with the kernel, that it was made under.
  if (hosts.online === 0) throw new ServiceError('base_image_unavailable')
  if (r.image !== null && !known && !catalog.includes(r.image)) throw new ServiceError('image_unknown')
  if (serving === 0) throw new ServiceError('image_unavailable')
  if (fitting === 0)
    throw new ServiceError('validation_error', {
      message: 'cpus, memoryMiB or diskGiB: larger than every online host, or diskGiB than half of its pool.',
    })
  throw new ServiceError('capacity_exhausted')
}
