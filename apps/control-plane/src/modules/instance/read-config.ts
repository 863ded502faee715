import type { Config } from '@dock/contract'

/** The required part of the configuration. Optional features are off unless they are set. */
export type InstanceFacts = Pick<Config, 'apiUrl' | 'appUrl' | 'mailDelivery' | 'authProviders'> &
  Partial<Config>

/** Returns the public configuration of this instance. */
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
