/** PUT /v1/organizations/:id/plan, and `script/admin plan`. */
import { type OrganizationPlan, ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import { type Actor, recordAudit } from '../audit/index.ts'
import type { BillingContext } from './billing-context.ts'
import {
  findOrganization,
  listPlanNames,
  lockPlan,
  type PlanOutcome,
  readPlan,
  removePlan,
  savePlan,
} from './plan-store.ts'
import { refreshSpent } from './usage-store.ts'

/** Changes the plan and records the change. That an organization has paid is no change of its plan. */
const changePlan = (
  { db, clock, accounts }: BillingContext,
  by: Actor,
  organizationId: string,
  { plan, active }: { plan: string | null; active: boolean },
): Promise<PlanOutcome> =>
  withTransaction(db, async (tx) => {
    const before = await lockPlan(tx, organizationId)
    if (!before) return 'no_organization'
    const outcome =
      plan === null
        ? await removePlan(tx, organizationId)
        : await savePlan(tx, organizationId, { plan, active, subscribed: accounts === null })
    if (outcome !== 'saved') return outcome
    const isActive = plan === null ? null : active
    if (before.plan === plan && before.active === isActive) return outcome
    await recordAudit(tx, by, {
      action: 'organization.plan_changed',
      now: clock.now(),
      organizationId,
      target: { type: 'organization', id: organizationId, name: before.name },
      details: { from: before.plan, to: plan, ...(plan !== null && { active }) },
    })
    return outcome
  })

/**
 * Gives an organization a plan, or takes it away with null. The next start is checked against it. Running Docks are not
 * affected. If a payment company is configured, the organization is subscribed; that is retried later if it fails. Throws
 * `organization_not_found`, and `validation_error` for an unknown plan.
 */
export async function setOrganizationPlan(
  context: BillingContext,
  by: Actor,
  organizationId: string,
  wanted: { plan: string | null; active: boolean },
): Promise<OrganizationPlan> {
  const { db, logger, accounts } = context
  const outcome = await changePlan(context, by, organizationId, wanted)
  if (outcome === 'no_organization') throw new ServiceError('organization_not_found')
  if (outcome === 'no_plan')
    throw new ServiceError('validation_error', {
      message: `plan: must be one of the operator's plans: ${(await listPlanNames(db)).join(', ') || 'there are none'}.`,
    })
  await refreshSpent(db, organizationId)
  await accounts
    ?.sync(organizationId)
    .catch((error: unknown) => logger.warn({ err: error, organizationId }, 'billing account failed; retried'))
  return readPlan(db, organizationId)
}

const noLimit = 'no limit'

/** Sets the plan of the organization with this slug or id, if one is named, and returns a line about its plan. */
export async function setPlan(
  context: BillingContext,
  organization: string,
  plan: string | undefined,
): Promise<string> {
  const { db } = context
  const id = await findOrganization(db, organization)
  if (id === null) throw new Error(`there is no organization with the slug or id ${organization}`)
  if (plan !== undefined)
    await setOrganizationPlan(context, { kind: 'operator' }, id, {
      plan: plan === 'none' ? null : plan,
      active: true,
    })
  const now = await readPlan(db, id)
  const plans = (await listPlanNames(db)).join(', ') || 'none; write plans.json and restart Dock'
  if (!now.plan) return `no plan\nplans: ${plans}`
  const { name, concurrentDocks, monthlyBudgetMicros, currency } = now.plan
  const budget = monthlyBudgetMicros === null ? noLimit : `${monthlyBudgetMicros} micro-units of ${currency}`
  return [
    `plan            ${name}${now.active ? '' : ', not active'}`,
    `live Docks      ${concurrentDocks ?? noLimit}`,
    `monthly budget  ${budget}`,
    `plans: ${plans}`,
  ].join('\n')
}
