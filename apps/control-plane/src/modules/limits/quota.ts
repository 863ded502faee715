/**
 * The gate of everything that starts compute: the organization's plan where the deployment bills, and its limits. It is
 * a part of the statement that places the Dock, so it costs no query of its own, and it holds under racers.
 */
import { ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { type LimitName, type Limits, limitRefusal } from './organization-limits.ts'

export type Quota = {
  organizationId: string
  /** Whether plans are looked at. */
  billing: boolean
  /** Of each organization that has no limits of its own. */
  defaults: Limits
}

export type QuotaRefusal = {
  refused: LimitName | 'subscription' | 'budget' | 'plan'
  allowed: number
  used: number
}

/**
 * `quota as (…)`: no row when one more Dock of this size passes no limit. It is looked at when `after` is true, and takes
 * a lock on the organization's starts after the Dock's row and before the host's.
 */
export function quotaPart(
  { organizationId, billing, defaults }: Quota,
  size: { cpus: number; memoryMiB: number; diskGiB: number },
  after: RawBuilder<boolean>,
): RawBuilder<unknown> {
  return sql`quota as materialized (select q.* from (select 1 where ${after}) as first,
  lateral quota_refusal(${organizationId}::uuid, ${billing}::boolean, ${JSON.stringify(defaults)}::jsonb,
    ${size.cpus}::bigint, ${size.memoryMiB}::bigint, ${size.diskGiB}::bigint) as q)`
}

/** The error that a row of {@link quotaPart} stands for. */
export function quotaError({ refused, allowed, used }: QuotaRefusal): ServiceError {
  if (refused === 'subscription') return new ServiceError('subscription_required')
  if (refused === 'budget') return new ServiceError('budget_exceeded')
  if (refused === 'plan')
    return new ServiceError('concurrency_exceeded', {
      message: `Your plan allows ${allowed} live Docks at once. Stop one first, or change the plan.`,
    })
  return limitRefusal('concurrency_exceeded', refused, allowed, used)
}
