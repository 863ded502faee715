import type { Config } from '@dock/contract'

/** What every instance has; what it may have besides is off unless the composition says otherwise. */
export type InstanceFacts = Pick<Config, 'apiUrl' | 'appUrl' | 'mailDelivery' | 'authProviders'> &
  Partial<Config>

/** What this instance offers; anybody may read it. */
export function readConfig(facts: InstanceFacts): Config {
  return {
    billingEnabled: false,
    githubAppConfigured: false,
    ssh: null,
    ports: null,
    chatgptSignIn: false,
    ...facts,
  }
}
