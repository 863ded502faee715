/** What the routes of this module use. */
import { ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { RateLimits } from '../../rate-limits/rate-limits.ts'
import type { Sealer } from '../../sealing/index.ts'
import type { GithubApi } from './api/github-api.ts'
import { GithubRefused, GithubUnavailable } from './api/github-errors.ts'
import type { AppAccess, FindApp, GithubApp } from './app/github-app.ts'
import type { RunSink } from './run-triggers.ts'

export type GithubContext = {
  db: Db
  clock: Clock
  sealer: Sealer
  rateLimits: RateLimits
  api: GithubApi
  findApp: FindApp
  /** True if the operator's settings name the App. */
  isAppFromSettings: boolean
  githubUrl: string
  apiUrl: string
  appUrl: string
  runs: RunSink
}

/** Returns the App with its secrets for signing in. Throws `github_app_oauth_not_configured`. */
export async function requireOauth({
  findApp,
}: Pick<GithubContext, 'findApp'>): Promise<GithubApp & { oauth: AppAccess }> {
  const app = await findApp()
  if (!app?.oauth) throw new ServiceError('github_app_oauth_not_configured')
  return { ...app, oauth: app.oauth }
}

/** Runs calls to GitHub for a route. Failures are `github_unavailable`. */
export async function orGithubUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ServiceError) throw error
    if (error instanceof GithubUnavailable || error instanceof GithubRefused)
      throw new ServiceError('github_unavailable', { cause: error })
    throw error
  }
}
