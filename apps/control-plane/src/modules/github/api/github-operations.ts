/** What the rest of Dock does at GitHub. Everything throws GithubUnavailable or GithubRefused. */
import type { FindApp } from '../app/github-app.ts'
import type { LinkedRepository } from '../linked-repository.ts'
import { branchOperations } from './branches.ts'
import type { GithubApi } from './github-api.ts'
import type { GitTokenAccess, InstallationTokens, RepositoryToken } from './installation-tokens.ts'
import { issueTextOperations } from './issue-text.ts'
import { pullRequestOperations } from './pull-requests.ts'
import { type Permission, readPermission } from './read-permission.ts'
import { createRepositoryCalls } from './repository-calls.ts'
import { statusOperations } from './status-reports.ts'

export type GithubOperations = ReturnType<typeof pullRequestOperations> &
  ReturnType<typeof branchOperations> &
  ReturnType<typeof statusOperations> &
  ReturnType<typeof issueTextOperations> & {
    /** A token of this repository alone, for git. It lives for at least 15 minutes. */
    repositoryToken(repository: LinkedRepository, access: GitTokenAccess): Promise<RepositoryToken>
    /** Discards a token that GitHub refused. */
    forgetToken(token: string): void
    /** What the permission API says now. Null: nothing, or the login belongs to another account than `id`. */
    readPermission(
      repository: LinkedRepository,
      person: { id: number | null; login: string },
    ): Promise<Permission | null>
  }

export function createGithubOperations(options: {
  api: GithubApi
  tokens: InstallationTokens
  findApp: FindApp
}): GithubOperations {
  const { api, tokens, findApp } = options
  const callsOf = createRepositoryCalls(api, tokens)
  return {
    ...pullRequestOperations(callsOf),
    ...branchOperations(callsOf),
    ...statusOperations(callsOf, findApp),
    ...issueTextOperations(callsOf, findApp),
    repositoryToken: (repository, access) => tokens.get(repository, access),
    forgetToken: tokens.forget,
    readPermission: (repository, person) => readPermission(callsOf(repository), person),
  }
}
