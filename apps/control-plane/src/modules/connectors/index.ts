/**
 * Public interface of the connectors module: credentials with which Docks access the repositories of their
 * Environments.
 */
export { type GitCredential, ProviderUnavailable } from './connector.ts'
export type { GitGrant, GrantFor } from './git-grant.ts'
export {
  findPushRefusal,
  findRule,
  type GitRule,
  type NamedRepository,
  type RefUpdate,
} from './git-policy.ts'
export { createConnectorsModule } from './module.ts'
