/** All SQL of plans and of the plans that organizations have. */
import type { BillingPlan, OrganizationPlan } from '@dock/contract'
import { sql } from 'kysely'
import { type Db, type Tx, withTransaction } from '../../database/database.ts'
import type { PlanFile } from './plan-file.ts'

/**
 * Saves the operator's plans. A plan that is no longer in the file is retired: organizations keep it until they get
 * another. Returns the names of retired plans that organizations have.
 */
export function savePlans(db: Db, { currency, plans }: PlanFile): Promise<string[]> {
  return withTransaction(db, async (tx) => {
    await sql`update plans set retired = true`.execute(tx)
    for (const { name, prices, ...plan } of plans)
      await sql`
        insert into plans (name, currency, docks_max, fast_runs_max, budget_micros, vcpu_second, memory_gib_second,
          disk_gib_month, snapshot_gib_month)
        values (${name}, ${currency}, ${plan.concurrentDocks}, ${plan.concurrentFastRuns}, ${plan.monthlyBudget},
          ${prices.vcpuSecond}, ${prices.memoryGiBSecond}, ${prices.diskGiBMonth}, ${prices.snapshotGiBMonth})
        on conflict (name) do update set currency = excluded.currency, docks_max = excluded.docks_max,
          fast_runs_max = excluded.fast_runs_max, budget_micros = excluded.budget_micros,
          vcpu_second = excluded.vcpu_second, memory_gib_second = excluded.memory_gib_second,
          disk_gib_month = excluded.disk_gib_month, snapshot_gib_month = excluded.snapshot_gib_month,
          retired = false`.execute(tx)
    await sql`delete from plans p where retired and not exists (
      select 1 from organization_plans o where o.plan = p.name)`.execute(tx)
    const kept = await sql<{ name: string }>`select name from plans where retired order by name`.execute(tx)
    return kept.rows.map(({ name }) => name)
  })
}

/** Returns the plans that an organization can be given. */
export async function listPlans(db: Db): Promise<BillingPlan[]> {
  return (
    await sql<BillingPlan>`select name, currency, docks_max as "concurrentDocks",
      fast_runs_max as "concurrentFastRuns", budget_micros as "monthlyBudgetMicros"
      from plans where not retired order by name`.execute(db)
  ).rows
}

/** Returns the names of the plans that an organization can be given. */
export async function listPlanNames(db: Db): Promise<string[]> {
  const found = await sql<{ name: string }>`select name from plans where not retired order by name`.execute(
    db,
  )
  return found.rows.map(({ name }) => name)
}

/** Returns the id of the organization with this slug or id, or null. */
export async function findOrganization(db: Db, slugOrId: string): Promise<string | null> {
  const found = await sql<{ id: string }>`select id from organizations
    where (slug = ${slugOrId} or id::text = ${slugOrId}) and deleted_at is null`.execute(db)
  return found.rows[0]?.id ?? null
}

type PlanRow = {
  active: boolean
  name: string
  currency: string
  concurrentDocks: number | null
  concurrentFastRuns: number | null
  monthlyBudgetMicros: number | null
}

/** Returns the organization's plan. */
export async function readPlan(db: Db, organizationId: string): Promise<OrganizationPlan> {
  const found = await sql<PlanRow>`
    select o.active and o.subscribed as active, p.name, p.currency, p.docks_max as "concurrentDocks", p.fast_runs_max as "concurrentFastRuns",
      p.budget_micros as "monthlyBudgetMicros"
    from organization_plans o join plans p on p.name = o.plan
    where o.organization_id = ${organizationId}`.execute(db)
  const row = found.rows[0]
  if (!row) return { plan: null, active: false }
  const { active, ...plan } = row
  return { plan, active }
}

export type PlannedOrganization = { name: string; plan: string | null; active: boolean | null }

/** Locks the organization, so that its plan changes once at a time, and returns its plan. */
export async function lockPlan(tx: Tx, organizationId: string): Promise<PlannedOrganization | undefined> {
  const found = await sql<PlannedOrganization>`
    select o.name, p.plan, p.active from organizations o
    left join organization_plans p on p.organization_id = o.id
    where o.id = ${organizationId} and o.deleted_at is null for no key update of o`.execute(tx)
  return found.rows[0]
}

export type PlanOutcome = 'saved' | 'no_organization' | 'no_plan'

/**
 * Gives the organization a plan of the file, or keeps a retired plan that it has. `subscribed` is for its first plan. If its
 * subscription has ended, it is renewed. The version keeps an answer about the time before from undoing that.
 */
export async function savePlan(
  db: Db,
  organizationId: string,
  { plan, active, subscribed }: { plan: string; active: boolean; subscribed: boolean },
): Promise<PlanOutcome> {
  const result = await sql<{ known: boolean; saved: boolean }>`
    with organization as (select id from organizations where id = ${organizationId} and deleted_at is null),
    saved as (insert into organization_plans as o (organization_id, plan, active, subscribed)
      select organization.id, p.name, ${active}::boolean, ${subscribed}::boolean from organization, plans p
      where p.name = ${plan} and (not p.retired or exists (
        select 1 from organization_plans h where h.organization_id = organization.id and h.plan = p.name))
      on conflict (organization_id) do update set plan = excluded.plan, active = excluded.active
      returning organization_id),
    renewed as (update billing_accounts a set renew = true, version = version + 1 from saved
      where a.organization_id = saved.organization_id and a.subscription_id is not null)
    select exists (select 1 from organization) as known, exists (select 1 from saved) as saved`.execute(db)
  const { known, saved } = result.rows[0]!
  if (saved) return 'saved'
  return known ? 'no_plan' : 'no_organization'
}

/** Takes the organization's plan away. */
export async function removePlan(db: Db, organizationId: string): Promise<PlanOutcome> {
  const result = await sql`
    with gone as (delete from organization_plans where organization_id = ${organizationId})
    select 1 from organizations where id = ${organizationId} and deleted_at is null`.execute(db)
  return result.rows.length > 0 ? 'saved' : 'no_organization'
}
