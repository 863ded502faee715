/**
 * The quota check of every operation that starts compute: the organization's plan, if the deployment bills, and its
 * limits. The check is a part of the statement that places the Dock. It needs no extra query, and concurrent starts
 * cannot exceed the quota together.
 */
import { ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { type LimitName, type Limits, limitRefusal } from './organization-limits.ts'

export type Quota = {
  organizationId: string
  /** True if plans are checked. */
  billing: boolean
  /** Default limits, for organizations without their own limits. */
  defaults: Limits
}

export type QuotaRefusal = {
  refused: LimitName | 'subscription' | 'budget' | 'plan' | 'fastRuns'
  allowed: number
  used: number
}

/**
 * Returns the CTE `quota as (…)`. It has no row if one more Dock of this size is within all limits, and otherwise the
 * first refusal. It is evaluated only if `after` is true. Lock order: the Dock's row, the lock on the organization's
 * starts that this takes, then the host's row.
 */
export function quotaCte(
  { organizationId, billing, defaults }: Quota,
  size: { cpus: number; memoryMiB: number; diskGiB: number },
  after: RawBuilder<boolean>,
): RawBuilder<unknown> {
  return sql`quota as materialized (select q.* from (select 1 where ${after}) as first,
  lateral quota_refusal(${organizationId}::uuid, ${billing}::boolean, ${JSON.stringify(defaults)}::jsonb,
    ${size.cpus}::bigint, ${size.memoryMiB}::bigint, ${size.diskGiB}::bigint) as q)`
}

/** Like {@link quotaCte}, for the machine of a fast Run. The plan's limit on fast Runs is checked first. */
export function fastQuotaCte(
  { organizationId, billing, defaults }: Quota,
  size: { cpus: number; memoryMiB: number; diskGiB: number },
  runId: string,
): RawBuilder<unknown> {
  return sql`quota as materialized (select q.* from fast_quota_refusal(${organizationId}::uuid, ${billing}::boolean,
    ${JSON.stringify(defaults)}::jsonb, ${size.cpus}::bigint, ${size.memoryMiB}::bigint, ${size.diskGiB}::bigint,
    ${runId}::uuid) as q)`
}

/** Throws `fast_run_concurrency_exceeded` if the plan allows the organization no further fast Run now. */
export async function requireFastRunSlot(
  db: Db,
  { organizationId, billing }: Pick<Quota, 'organizationId' | 'billing'>,
): Promise<void> {
  const { rows } = await sql<QuotaRefusal>`
    select refused, allowed, used from fast_run_refusal(${organizationId}::uuid, ${billing}::boolean, null)`.execute(
    db,
  )
  if (rows[0]) throw quotaError(rows[0])
}

/**
 * Takes the lock on the organization's starts until the transaction ends. A transaction that locks rows of Runs or
 * machines and then checks the quota takes it first, in the order of all starts.
 */
export async function lockQuota(tx: Tx, organizationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(20, hashtext(${organizationId}::uuid::text))`.execute(tx)
}

/** Throws the first refusal if one more Dock of this size is not within all limits. */
export async function requireQuota(
  tx: Tx,
  quota: Quota,
  size: { cpus: number; memoryMiB: number; diskGiB: number },
): Promise<void> {
  const { rows } = await sql<QuotaRefusal>`with ${quotaCte(quota, size, sql<boolean>`true`)}
    select refused, allowed, used from quota`.execute(tx)
  if (rows[0]) throw quotaError(rows[0])
}

/** Returns the error for a row of {@link quotaCte}. */
export function quotaError({ refused, allowed, used }: QuotaRefusal): ServiceError {
  if (refused === 'subscription') return new ServiceError('subscription_required')
  if (refused === 'budget') return new ServiceError('budget_exceeded')
  if (refused === 'fastRuns')
    return new ServiceError('fast_run_concurrency_exceeded', {
      message: `Your plan allows ${allowed} fast Runs at once. Wait for one to end, or upgrade the plan.`,
    })
  if (refused === 'plan')
    return new ServiceError('concurrency_exceeded', {
      message: `Your plan allows ${allowed} live Docks at once. Stop one first, or upgrade the plan.`,
    })
  return limitRefusal('concurrency_exceeded', refused, allowed, used)
}
