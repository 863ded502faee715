/** Client for the APIs of GitHub and GitLab that refresh a token and narrow a token to one repository. */
import type { GitProvider } from '@dock/contract'
import * as z from 'zod'
import type { ProviderGrant, SocialLogins } from '../accounts/index.ts'
import { type ConnectedRepository, type GitCredential, ProviderUnavailable } from './connector.ts'
import type { GitAccess } from './git-policy.ts'

export type GitProviderCalls = {
  /** Exchanges a refresh token for a new grant. Returns null if the provider refuses the refresh token. */
  renew(refreshToken: string): Promise<ProviderGrant | null>
  /** Returns a credential for this repository, or null if the token has no access to it. */
  narrow(
    grant: ProviderGrant,
    repository: ConnectedRepository,
    access: GitAccess,
  ): Promise<NarrowedCredential | null>
}

export type NarrowedCredential = { credential: GitCredential; expiresAt: string }

const requestTimeoutMs = 10_000
const token = z.string().min(1).max(16_384)
const renewed = z.object({
  access_token: token,
  refresh_token: token.nullish(),
  expires_in: z
    .number()
    .positive()
    .max(366 * 86_400),
})
const narrowed = z.object({ token, expires_at: z.iso.datetime({ offset: true }).nullish() })

/** Sends a POST and returns the status and the parsed JSON, or null if the body is not JSON. */
const postJson = async (
  url: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ status: number; answer: unknown }> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'user-agent': 'dock',
        ...headers,
      },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(requestTimeoutMs),
    })
    const answer: unknown = await response.json().catch(() => null)
    if (response.status < 500 && response.status !== 429) return { status: response.status, answer }
    throw new Error(`responded with status ${response.status}`)
  } catch (error) {
    throw new ProviderUnavailable(`the request to ${new URL(url).host} failed`, { cause: error })
  }
}

const renewAt =
  (url: string, client: { clientId: string; clientSecret: string }, now: () => Date) =>
  async (refreshToken: string): Promise<ProviderGrant | null> => {
    const { status, answer } = await postJson(url, {
      grant_type: 'refresh_token',
      refresh_token: refreshToken,
      client_id: client.clientId,
      client_secret: client.clientSecret,
    })
    const read = renewed.safeParse(answer)
    if (!read.success) {
      // A refused refresh token: GitHub responds with status 200 and GitLab with 400. Both set `error`.
      if (status < 500 && z.object({ error: z.string() }).safeParse(answer).success) return null
      throw new ProviderUnavailable(`${new URL(url).host} returned no valid token for a refresh token`)
    }
    const { access_token: accessToken, refresh_token, expires_in } = read.data
    const expiresAt = new Date(now().getTime() + expires_in * 1000).toISOString()
    return { accessToken, refreshToken: refresh_token ?? null, expiresAt }
  }

/** GitHub App: a user's token can be exchanged for one that is limited to a single repository. */
const github = (login: NonNullable<SocialLogins['github']>, now: () => Date): GitProviderCalls => {
  const { url, clientId, clientSecret } = login
  const api = url === 'https://github.com' ? 'https://api.github.com' : `${url}/api/v3`
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
  return {
    renew: renewAt(`${url}/login/oauth/access_token`, login, now),
    narrow: async ({ accessToken, expiresAt }, { fullName }, access) => {
      const [target = '', repository = ''] = fullName.split('/')
      const { status, answer } = await postJson(
        `${api}/applications/${encodeURIComponent(clientId)}/token/scoped`,
        {
          access_token: accessToken,
          target,
          repositories: [repository],
          ...(access === 'read' ? { permissions: { contents: 'read' } } : {}),
        },
        { authorization: `Basic ${basic}` },
      )
      const read = narrowed.safeParse(answer)
      if (status !== 200 || !read.success) return null
      return {
        credential: { username: 'x-access-token', password: read.data.token },
        expiresAt: read.data.expires_at ?? expiresAt,
      }
    },
  }
}

/**
 * GitLab tokens cannot be narrowed. The token accesses all repositories of its user for two hours, but its scopes limit
 * it to git.
 */
const gitlab = (login: NonNullable<SocialLogins['gitlab']>, now: () => Date): GitProviderCalls => ({
  renew: renewAt(`${login.url}/oauth/token`, login, now),
  narrow: async ({ accessToken, expiresAt }) => ({
    credential: { username: 'oauth2', password: accessToken },
    expiresAt,
  }),
})

/** Returns the clients of the configured providers. */
export function gitProviderCalls(
  { github: ofGithub, gitlab: ofGitlab }: SocialLogins,
  now: () => Date,
): Partial<Record<GitProvider, GitProviderCalls>> {
  return {
    ...(ofGithub ? { github: github(ofGithub, now) } : {}),
    ...(ofGitlab ? { gitlab: gitlab(ofGitlab, now) } : {}),
  }
}
