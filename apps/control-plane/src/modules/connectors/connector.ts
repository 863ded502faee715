/**
 * A connector issues short-lived tokens, for a single repository where the provider can narrow them. The tokens never enter
 * the Dock.
 */
import type { GitProvider } from '@dock/contract'
import type { GitAccess } from './git-policy.ts'

export type ConnectedRepository = {
  provider: GitProvider
  repositoryId: string
  fullName: string
  addedBy: string | null
}

/** The user name and password for HTTP basic authentication at the Git server. */
export type GitCredential = { username: string; password: string }

export type Connector = {
  /**
   * Returns a credential that reaches this repository, or null if the organization has no access to it. Throws
   * {@link ProviderUnavailable}.
   */
  tokenFor(
    organizationId: string,
    repository: ConnectedRepository,
    access: GitAccess,
  ): Promise<GitCredential | null>
  /** Discards a cached credential that the provider refused, so that it is not returned again. */
  forget(credential: GitCredential): void
}

/** The provider could not be reached, or its response cannot be used. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}
