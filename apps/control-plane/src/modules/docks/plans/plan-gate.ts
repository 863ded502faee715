/**
 * What an organization's plan lets it start. Looked at only where the deployment bills; the count of running Docks and
 * the claim that adds one to it are made behind one lock, so that racers never pass the limit together.
 */
import { ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import { type Db, withTransaction } from '../../../database/database.ts'
import type { DockContext } from '../dock-context.ts'

type Plan = {
  active: boolean
  docksMax: number | null
  budgetCents: number | null
  spentCents: number
}

/** The organization's plan, held by this transaction alone. */
const holdPlan = async (db: Db, organizationId: string): Promise<Plan | null> =>
  (
    await sql<Plan>`select active, docks_max as "docksMax", budget_cents as "budgetCents", spent_cents as "spentCents"
      from organization_plans where organization_id = ${organizationId} for update`.execute(db)
  ).rows[0] ?? null

/** Docks of the organization that take room on a host. */
const countPlaced = async (db: Db, organizationId: string): Promise<number> =>
  (
    await sql<{ n: number }>`select count(*)::int as n from docks
      where organization_id = ${organizationId} and placed`.execute(db)
  ).rows[0]!.n

/** Makes a claim that starts compute, if the plan allows one more. Throws the three codes of plans. */
export const withinPlan = async <Claimed>(
  { db, billing }: Pick<DockContext, 'db' | 'billing'>,
  organizationId: string,
  claim: (db: Db) => Promise<Claimed>,
): Promise<Claimed> => {
  if (!billing) return claim(db)
  return withTransaction(db, async (tx) => {
    const plan = await holdPlan(tx, organizationId)
    if (!plan?.active) throw new ServiceError('subscription_required')
    const { budgetCents, spentCents, docksMax } = plan
    if (budgetCents !== null && spentCents >= budgetCents) throw new ServiceError('budget_exceeded')
    if (docksMax !== null && (await countPlaced(tx, organizationId)) >= docksMax)
      throw new ServiceError('concurrency_exceeded')
    return claim(tx)
  })
}
