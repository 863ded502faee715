/**
 * Public interface of the connectors module: credentials with which Docks access the repositories of their
 * Environments.
 */
export {
  type ConnectedRepository,
  type Connector,
  type GitCredential,
  ProviderUnavailable,
} from './connector.ts'
export type { GitGrant, GrantFor } from './git-grant.ts'
export {
  findPushRefusal,
  findRule,
  type GitPolicy,
  type GitRule,
  type NamedRepository,
  type RefUpdate,
} from './git-policy.ts'
export { type ConnectorsModule, createConnectorsModule } from './module.ts'
