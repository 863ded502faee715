/** Where repositories lie: the servers of the instance's providers, and the addresses that git knows repositories by. */
import type { GitProvider } from '@dock/contract'

/** Address of each provider's server, without a slash at its end. */
export type GitServers = Readonly<Record<GitProvider, string>>

/** What git asks credentials for. */
export type GitAddress = { protocol: string; host: string; path: string }

type Named = { provider: GitProvider; fullName: string }

export const cloneUrl = (servers: GitServers, { provider, fullName }: Named): string =>
  `${servers[provider]}/${fullName}.git`

const plain = (path: string): string =>
  path
    .replace(/^\/+|\/+$/g, '')
    .replace(/\.git$/i, '')
    .toLowerCase()

/** Whether the address is the repository's, as both servers read one: whatever its case, with or without `.git`. */
export const isAddressOf = (servers: GitServers, repository: Named, asked: GitAddress): boolean => {
  const url = new URL(cloneUrl(servers, repository))
  return (
    `${asked.protocol}:` === url.protocol &&
    asked.host.toLowerCase() === url.host &&
    plain(asked.path) === plain(url.pathname)
  )
}
