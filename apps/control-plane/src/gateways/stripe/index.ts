/** Public interface of the gateway to Stripe. */
export { createStripeProvider, type StripeSettings } from './stripe-provider.ts'
