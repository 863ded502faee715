/** Public interface of the billing module: plans of the operator, metering, the ledger, and payment companies. */
export type { BillingContext } from './billing-context.ts'
export { listPlannedOrganizations } from './list-planned.ts'
export { type BillingModule, createBillingModule } from './module.ts'
export { type PlanFile, parsePlans } from './plan-file.ts'
export {
  type BillingProvider,
  EventNotGenuine,
  ProviderFailed,
  ProviderRefused,
  type Subscription,
} from './provider.ts'
export { readOrganizationUsage } from './read-usage.ts'
export { setOrganizationPlan, setPlan } from './set-plan.ts'
