import type { Config } from '@dock/contract'

export type InstanceFacts = { apiUrl: string; appUrl: string; mailDelivery: string }

/** What this instance offers; anybody may read it. */
export const readConfig = (facts: InstanceFacts): Config => ({
  apiUrl: facts.apiUrl,
  appUrl: facts.appUrl,
  billingEnabled: false,
  authProviders: ['credential'],
  mailDelivery: facts.mailDelivery,
  githubAppConfigured: false,
  ssh: null,
  ports: null,
  chatgptSignIn: false,
})
