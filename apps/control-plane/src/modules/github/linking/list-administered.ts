/** Proves which repositories a person administers, with a token that is used once and not kept. */
import { type GithubChoice, ServiceError } from '@dock/contract'
import * as z from 'zod'
import type { GithubApi } from '../api/github-api.ts'
import { GithubUnavailable } from '../api/github-errors.ts'
import type { AppAccess } from '../app/github-app.ts'
import type { ProvenRepository } from './state-store.ts'

const pageSize = 100
const installationPagesMax = 2
const repositoryPagesMax = 20

const tokenAnswer = z.object({ access_token: z.string().min(1).max(4_096) })
const installationPage = z.object({
  installations: z.array(
    z.object({
      id: z.int(),
      app_id: z.int(),
      account: z.object({ login: z.string() }).nullish(),
      suspended_at: z.string().nullish(),
    }),
  ),
})
const repositoryPage = z.object({
  repositories: z.array(
    z.object({
      id: z.int(),
      full_name: z.string().max(300),
      private: z.boolean(),
      archived: z.boolean().nullish(),
      default_branch: z.string().max(256).nullish(),
      permissions: z.object({ admin: z.boolean() }).nullish(),
    }),
  ),
})

export type Administered = { choices: GithubChoice[]; proven: ProvenRepository[]; isComplete: boolean }

/**
 * Exchanges the code for a token of the person. GitHub answers 200 with `error` for a code that is wrong, expired or used.
 * Throws `invalid_code`.
 */
export async function exchangeCode(githubUrl: string, oauth: AppAccess, code: string): Promise<string> {
  let body: unknown
  let status: number
  try {
    const response = await fetch(`${githubUrl}/login/oauth/access_token`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'dock' },
      body: JSON.stringify({ client_id: oauth.clientId, client_secret: oauth.clientSecret, code }),
      redirect: 'error',
      signal: AbortSignal.timeout(10_000),
    })
    status = response.status
    body = await response.json().catch(() => null)
  } catch (error) {
    throw new GithubUnavailable('no response to the exchange of a code', { cause: error })
  }
  const token = tokenAnswer.safeParse(body)
  if (status === 200 && token.success) return token.data.access_token
  const refusal = z.object({ error: z.string() }).safeParse(body).data?.error
  if (status < 500 && status !== 429 && refusal !== undefined && refusal !== 'incorrect_client_credentials')
    throw new ServiceError('invalid_code')
  throw new GithubUnavailable(`GitHub answered the exchange of a code with status ${status} ${refusal ?? ''}`)
}

/**
 * Lists the repositories with the App that the person administers. GitHub also lists what the person may only read, so
 * `permissions.admin` decides for each.
 */
export async function listAdministered(api: GithubApi, appId: number, token: string): Promise<Administered> {
  const authorization = `Bearer ${token}`
  const found: Administered = { choices: [], proven: [], isComplete: true }
  let pagesLeft = repositoryPagesMax
  const addRepositories = async (installationId: number, account: string): Promise<void> => {
    const choice: GithubChoice = { installationId, account, repositories: [] }
    for (let page = 1; ; page += 1) {
      if (pagesLeft === 0) {
        found.isComplete = false
        break
      }
      pagesLeft -= 1
      const path = `/user/installations/${installationId}/repositories`
      const query = { per_page: pageSize, page }
      const { repositories } = await api.read({ path, query, authorization }, repositoryPage)
      for (const each of repositories) {
        if (each.permissions?.admin !== true || each.archived) continue
        const { id: repositoryId, full_name: fullName } = each
        choice.repositories.push({ repositoryId, fullName, isPrivate: each.private })
        found.proven.push({
          providerInstallationId: installationId,
          repositoryId,
          fullName,
          defaultBranch: each.default_branch ?? 'main',
        })
      }
      if (repositories.length < pageSize) break
    }
    if (choice.repositories.length > 0) found.choices.push(choice)
  }
  for (let page = 1; page <= installationPagesMax; page += 1) {
    const query = { per_page: pageSize, page }
    const { installations } = await api.read(
      { path: '/user/installations', query, authorization },
      installationPage,
    )
    for (const { id, app_id, account, suspended_at } of installations)
      if (app_id === appId && !suspended_at) await addRepositories(id, account?.login ?? '')
    if (installations.length < pageSize) return found
  }
  return { ...found, isComplete: false }
}
