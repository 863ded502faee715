/**
 * The quota check of every operation that starts compute: the organization's plan, if the deployment bills, and its
 * limits. The check is a part of the statement that places the Dock. It needs no extra query, and concurrent starts
 * cannot exceed the quota together.
 */
import { ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { type LimitName, type Limits, limitRefusal } from './organization-limits.ts'

export type Quota = {
  organizationId: string
  /** True if plans are checked. */
  billing: boolean
  /** Default limits, for organizations without their own limits. */
  defaults: Limits
}

export type QuotaRefusal = {
  refused: LimitName | 'subscription' | 'budget' | 'plan'
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

/** Returns the error for a row of {@link quotaCte}. */
export function quotaError({ refused, allowed, used }: QuotaRefusal): ServiceError {
  if (refused === 'subscription') return new ServiceError('subscription_required')
  if (refused === 'budget') return new ServiceError('budget_exceeded')
  if (refused === 'plan')
    return new ServiceError('concurrency_exceeded', {
      message: `Your plan allows ${allowed} live Docks at once. Stop one first, or upgrade the plan.`,
    })
  return limitRefusal('concurrency_exceeded', refused, allowed, used)
}
