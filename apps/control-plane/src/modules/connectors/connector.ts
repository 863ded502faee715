/** What lets a Dock reach a repository: a token for this repository, which expires soon and never enters the Dock. */
import type { GitProvider } from '@dock/contract'
import type { GitAccess } from './git-policy.ts'

export type ConnectedRepository = {
  provider: GitProvider
  repositoryId: string
  fullName: string
  addedBy: string | null
}

/** What is sent to the server, as name and password. */
export type GitCredential = { username: string; password: string }

export type Connector = {
  /** A token for this one repository, or null where the organization has no way to it. */
  tokenFor(
    organizationId: string,
    repository: ConnectedRepository,
    access: GitAccess,
  ): Promise<GitCredential | null>
  /** The provider refused this credential: it is not given again. */
  forget(credential: GitCredential): void
}

/** The provider was not reached, or answered what cannot be used. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}
