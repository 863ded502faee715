/** Claims the machine of a fast Run: a sandbox of a host's warm pool, or room on a host for a new one. */
import { limits, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Visitor } from '../../accounts/index.ts'
import {
  hostCandidate,
  type PlacementRequest,
  reserveRoom,
  runtimesFor,
  throwNoPlacement,
  type WarmDock,
} from '../../hosts/index.ts'
import { fastQuotaCte, type QuotaRefusal, quotaError } from '../../limits/index.ts'
import { keysSince } from '../boot/idempotency.ts'
import { generateName, hostnameOf } from '../core/dock-name.ts'
import { readCreateContext } from '../core/dock-store.ts'
import { type Binding, marksOf, requireLaunch } from '../core/environment-gate.ts'
import { type DockContext, quotaOf } from '../dock-context.ts'

export type WantedMachine = {
  runId: string
  organizationId: string
  workspaceId: string
  turn: number
  /** Id of an Environment. Null: the organization's default one. */
  environment: string | null
  /** The machine gets nothing that the Environment passes. */
  noEnv: boolean
  /** Null: the default image. */
  image: string | null
  /** A query that must return a row, otherwise nothing is claimed. It may lock the row once it has evaluated `after`. */
  given(after: RawBuilder<boolean>): RawBuilder<unknown>
  /** Further parts of the claim, each in the form `name as (…)`. They read the new row from `born`. */
  also(now: Date): readonly RawBuilder<unknown>[]
}

const size = {
  cpus: limits.cpus.default,
  memoryMiB: limits.memoryMiB.default,
  diskGiB: limits.diskGiB.default,
}

/**
 * Saves the machine in state `starting`, unless `given` has no row. Throws what a create of a Dock in the caller's name
 * would.
 */
export async function claimMachine(
  context: DockContext,
  caller: Visitor,
  wanted: WantedMachine,
): Promise<void> {
  const { db, clock, gateway, warmPools, startFailures } = context
  const image = wanted.image ?? context.defaultImage
  const lookup = { userId: caller.userId, workspaceId: wanted.workspaceId, environment: wanted.environment }
  const { role, binding } = caller.admit(
    await readCreateContext(db, { ...lookup, key: null, keysSince: keysSince(clock.now()) }),
  )
  if (binding === null) throw new ServiceError('environment_not_found')
  requireLaunch(binding, role, wanted.noEnv)
  const claim = { ...wanted, binding, createdBy: caller.userId, image }
  const waiting = warmPools.take(
    { image, ...size },
    gateway.hostsWithControlLink(),
    runtimesFor(null, undefined),
  )
  if (waiting) {
    let outcome: Outcome = 'no_host'
    try {
      outcome = await claimOn(context, claim, waiting)
    } finally {
      if (outcome !== 'claimed') warmPools.giveBack(waiting)
    }
    if (outcome !== 'no_host') return
  }
  if ((await claimOn(context, claim, null)) !== 'no_host') return
  const linked = gateway.hostsWithControlLink()
  await throwNoPlacement(
    db,
    { ...placementOf(image, null, linked), avoid: startFailures.hostsToAvoid() },
    context.catalog,
  )
}

const placementOf = (image: string, only: string | null, linked: readonly string[]): PlacementRequest => ({
  ...size,
  image,
  only,
  runtimes: runtimesFor(null, undefined),
  linked,
})

type Claim = Omit<WantedMachine, 'image'> & { binding: Binding; createdBy: string; image: string }

type Outcome = 'claimed' | 'unwanted' | 'no_host'

/** `no_host` also means that the sandbox has become a Dock. */
const claimOn = async (context: DockContext, claim: Claim, waiting: WarmDock | null): Promise<Outcome> => {
  const { db, clock, gateway, policy, startFailures } = context
  const { runId, organizationId, workspaceId, turn, image, binding, noEnv, createdBy } = claim
  const now = clock.now()
  const id = waiting?.id ?? newUuid()
  const hostname = waiting?.hostname ?? hostnameOf(generateName(0))
  const placement = {
    ...placementOf(image, waiting?.hostId ?? null, gateway.hostsWithControlLink()),
    avoid: startFailures.hostsToAvoid(),
  }
  const isFree = sql<boolean>`exists (select 1 from given) and not exists (select 1 from docks d where d.id = ${id}::uuid)`
  const parts = [
    fastQuotaCte(quotaOf(context, organizationId), size, runId),
    sql`given as (${claim.given(sql<boolean>`(select count(*) from quota) = 0`)})`,
    sql`candidate as (${hostCandidate(placement, policy, isFree)})`,
    sql`placed as (${reserveRoom(size, sql`candidate`)})`,
    sql`born as (insert into run_machines (id, run_id, organization_id, workspace_id, turn, hostname, image, image_version,
        cpus, memory_mib, disk_gib, runtime, host_id, state, state_changed_at, placed, environment, environment_id,
        environment_version, env_passes, marks, no_env, created_by, created_at)
      select ${id}::uuid, ${runId}::uuid, ${organizationId}::uuid, ${workspaceId}::uuid, ${turn}::int, ${hostname}, ${image},
        placed.image_versions ->> ${image}::text, ${size.cpus}::int, ${size.memoryMiB}::int, ${size.diskGiB}::int,
        placed.runtime, placed.id, 'starting', ${now}::timestamptz, true, ${binding.environment},
        ${binding.environmentId}::uuid, ${binding.environmentVersion}::int, ${binding.envPasses && !noEnv}::boolean,
        ${marksOf(binding, noEnv, [])}::uuid[], ${noEnv}::boolean, ${createdBy}, ${now}::timestamptz
      from placed returning *)`,
    ...claim.also(now),
  ]
  const { rows } = await sql<{ given: number; placed: string | null } & (QuotaRefusal | { refused: null })>`
    with ${sql.join(parts, sql`, `)}
    select (select count(*) from given)::int as given, (select id from placed) as placed, q.refused, q.allowed, q.used from (values (1)) as one left join quota q on true`.execute(
    db,
  )
  const row = rows[0]!
  if (row.refused !== null) throw quotaError(row)
  if (row.given === 0) return 'unwanted'
  return row.placed === null ? 'no_host' : 'claimed'
}
