/** What lets a Dock reach a repository: a token for this repository, made when it is asked for and gone soon after. */
import type { GitProvider } from '@dock/contract'

export type ConnectedRepository = {
  provider: GitProvider
  repositoryId: string
  fullName: string
  addedBy: string | null
}

/** What git sends to the server. */
export type GitCredential = { username: string; password: string }

export type Connector = {
  /** A token for this one repository, or null where the organization has no way to it. */
  tokenFor(organizationId: string, repository: ConnectedRepository): Promise<GitCredential | null>
}

/** The provider was not reached, or answered what cannot be used. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}
