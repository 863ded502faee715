/** Tokens of an installation, each for one repository and with no more permissions than its use needs. */
import type { Clock } from '@dock/foundation'
import * as z from 'zod'
import { appAuthorization, type FindApp } from '../app/github-app.ts'
import type { LinkedRepository } from '../linked-repository.ts'
import type { GithubApi } from './github-api.ts'
import { GithubRefused } from './github-errors.ts'

/** What git may do with a token. `workflows` may also change files in `.github/workflows`. */
export type GitTokenAccess = 'read' | 'write' | 'workflows'
type TokenUse = GitTokenAccess | 'api'

export type RepositoryToken = { token: string; expiresAt: string }

export type InstallationTokens = {
  /** Returns a token that lives for at least {@link lifeLeftMs}. Throws GithubUnavailable and GithubRefused. */
  get(repository: LinkedRepository, use: TokenUse): Promise<RepositoryToken>
  /** Discards a token that GitHub refused. */
  forget(token: string): void
}

const permissions: Readonly<Record<TokenUse, Record<string, 'read' | 'write'>>> = {
  read: { contents: 'read', metadata: 'read' },
  write: { contents: 'write', metadata: 'read' },
  workflows: { contents: 'write', metadata: 'read', workflows: 'write' },
  api: {
    ...({ contents: 'read', metadata: 'read', issues: 'write' } as const),
    ...({ pull_requests: 'write', checks: 'write' } as const),
  },
}

/** A token that expires sooner is replaced before use, because a clone may take this long. */
const lifeLeftMs = 15 * 60_000
const tokensMax = 1_000
const made = z.object({ token: z.string().min(1).max(1_024), expires_at: z.iso.datetime({ offset: true }) })

export function createInstallationTokens(options: {
  api: GithubApi
  findApp: FindApp
  clock: Clock
}): InstallationTokens {
  const { api, findApp, clock } = options
  /** Ordered by insertion, oldest first. Concurrent callers share one request. */
  const kept = new Map<string, { token: Promise<RepositoryToken>; value: RepositoryToken | null }>()

  const make = async (repository: LinkedRepository, use: TokenUse): Promise<RepositoryToken> => {
    const app = await findApp()
    if (!app) throw new GithubRefused('the instance has no GitHub App', 404)
    const { token, expires_at: expiresAt } = await api.read(
      {
        method: 'POST',
        path: `/app/installations/${repository.providerInstallationId}/access_tokens`,
        body: { repository_ids: [repository.repositoryId], permissions: permissions[use] },
        authorization: appAuthorization(app, clock.now()),
      },
      made,
    )
    return { token, expiresAt }
  }

  const isFresh = (value: RepositoryToken | null): boolean =>
    value === null || Date.parse(value.expiresAt) - clock.now().getTime() > lifeLeftMs

  return {
    get: (repository, use) => {
      const key = `${repository.providerInstallationId} ${repository.repositoryId} ${use}`
      const known = kept.get(key)
      if (known && isFresh(known.value)) return known.token
      const entry: { token: Promise<RepositoryToken>; value: RepositoryToken | null } = {
        token: make(repository, use),
        value: null,
      }
      kept.delete(key)
      kept.set(key, entry)
      for (const oldest of kept.keys()) {
        if (kept.size <= tokensMax) break
        kept.delete(oldest)
      }
      entry.token.then(
        (value) => {
          entry.value = value
        },
        () => {
          if (kept.get(key) === entry) kept.delete(key)
        },
      )
      return entry.token
    },
    forget: (token) => {
      for (const [key, { value }] of [...kept]) if (value?.token === token) kept.delete(key)
    },
  }
}
