/** Where repositories lie: the servers of the instance's providers, and the addresses by which git reaches repositories. */
import type { GitProvider } from '@dock/contract'

/** Address of each provider's server, without a slash at its end. */
export type GitServers = Readonly<Record<GitProvider, string>>

type Named = { provider: GitProvider; fullName: string }

export function cloneUrl(servers: GitServers, { provider, fullName }: Named): string {
  return `${servers[provider]}/${fullName}.git`
}

/** The path below a Dock's git door that stands for the repository. */
export function doorPathOf({ provider, fullName }: Named): string {
  return `${provider}/${fullName}.git`
}
