/** The Git servers of the instance's providers, and the URLs and paths of repositories. */
import type { GitProvider } from '@dock/contract'

/** Base URL of each provider's server, without a trailing slash. */
export type GitServers = Readonly<Record<GitProvider, string>>

type Named = { provider: GitProvider; fullName: string }

/** Returns the URL of a repository on its provider's server. */
export function cloneUrl(servers: GitServers, { provider, fullName }: Named): string {
  return `${servers[provider]}/${fullName}.git`
}

/** Returns the path of the repository at the Dock's git door. */
export function doorPathOf({ provider, fullName }: Named): string {
  return `${provider}/${fullName}.git`
}
