/** Public interface of the billing module: plans of the operator, metering, the ledger, and payment companies. */
export { type BillingModule, createBillingModule } from './module.ts'
export { type PlanFile, parsePlans } from './plan-file.ts'
export {
  type BillingProvider,
  EventNotGenuine,
  ProviderFailed,
  ProviderRefused,
  type Subscription,
} from './provider.ts'
export { setPlan } from './set-plan.ts'
