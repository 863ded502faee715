/** Extensions, not part of the specification: an organization's plan and its usage. Money is micro-units of a currency. */
import * as z from 'zod'
import { count } from '../fields.ts'

const day = z.iso.date()

/** A plan of the operator. Null: no limit. */
export const billingPlan = z.strictObject({
  name: z.string(),
  /** ISO 4217. */
  currency: z.string(),
  concurrentDocks: count.nullable(),
  concurrentFastRuns: count.nullable(),
  monthlyBudgetMicros: count.nullable(),
})

export type BillingPlan = z.output<typeof billingPlan>

export const organizationPlan = z.strictObject({
  /** Null: the organization has no plan. */
  plan: billingPlan.nullable(),
  /** False: the organization starts no compute. */
  active: z.boolean(),
})
export type OrganizationPlan = z.output<typeof organizationPlan>

export const organizationPlanChange = z.strictObject({
  /** Name of a plan in the operator's file; null takes the plan away. */
  plan: z.string().min(1).max(64).nullable(),
  /** False keeps the plan but starts no compute. */
  active: z.boolean().default(true),
})

const amounts = {
  vcpuSeconds: count,
  memoryMiBSeconds: count,
  diskGiBSeconds: count,
  snapshotMiBSeconds: count,
  costMicros: count,
}

export const usageAmounts = z.strictObject(amounts)
/** What was used on one day in UTC. */
export const usageDay = z.strictObject({ day, closed: z.boolean(), ...amounts })

export const organizationUsage = z.strictObject({
  month: z.string(),
  /** Days before this one are closed: their figures never change. */
  closedUntil: day,
  /** Currency of the costs; null if nothing of the month has a price. */
  currency: z.string().nullable(),
  total: usageAmounts,
  /** Days in UTC on which something was used. */
  days: z.array(usageDay),
})
export type OrganizationUsage = z.output<typeof organizationUsage>
