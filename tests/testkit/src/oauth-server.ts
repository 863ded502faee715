/** A fake OAuth provider for tests: the endpoints of GitHub, GitLab and Google on one loopback server. */
import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type OauthPerson = { id: number; name: string; email: string; verified: boolean }

export type OauthServer = {
  url: string
  /** The person who signs in next. */
  person: OauthPerson
  /** True if its tokens expire. */
  expiring: boolean
  /** The last token that it issued. */
  token: string
  /** Grants the authorization request like the person's browser. Returns the URL that the browser is redirected to. */
  agree(authorizationUrl: string): string
  close(): Promise<void>
}

type Grant = { challenge: string; clientId: string; redirectUri: string; person: OauthPerson }

export const client = { id: 'dock-client', secret: 'dock-secret' }

const identities: Record<string, (person: OauthPerson) => unknown> = {
  '/api/v3/user': ({ id, name }) => ({ id, login: name.toLowerCase(), name, avatar_url: null }),
  '/api/v3/user/emails': ({ email, verified }) => [
    { email: 'other@example.test', primary: false, verified: true },
    { email, primary: true, verified },
  ],
  '/api/v4/user': ({ id, name, email, verified }) => ({
    ...{ id, username: name.toLowerCase(), name, email, avatar_url: null },
    confirmed_at: verified ? '2026-01-01T00:00:00Z' : null,
  }),
  '/v1/userinfo': ({ id, name, email, verified }) => ({
    sub: String(id),
    name,
    email,
    email_verified: verified,
  }),
}

/** Starts the server. A code works once, and only with its client's secret, redirect URI and PKCE verifier. */
export async function startOauthServer(): Promise<OauthServer> {
  const codes = new Map<string, Grant>()
  const tokens = new Map<string, OauthPerson>()
  const exchange = (form: URLSearchParams): object => {
    const code = form.get('code') ?? ''
    const grant = codes.get(code)
    codes.delete(code)
    const proof = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const honest =
      grant?.challenge === proof &&
      form.get('client_secret') === client.secret &&
      form.get('redirect_uri') === grant.redirectUri
    if (!honest) return { error: 'bad_verification_code' }
    const token = randomUUID()
    tokens.set(token, grant.person)
    made.token = token
    const expiry = made.expiring ? { expires_in: 7200, refresh_token: `refresh-${token}` } : {}
    return { access_token: token, token_type: 'bearer', scope: '', ...expiry }
  }
  const server = createServer(async (request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    let body = ''
    for await (const chunk of request) body += chunk
    const person = tokens.get(request.headers.authorization?.replace('Bearer ', '') ?? '')
    const identity = identities[path]
    const answer =
      path === '/login/oauth/access_token' || path === '/token' || path === '/oauth/token'
        ? exchange(new URLSearchParams(body))
        : identity && person
          ? identity(person)
          : undefined
    response.writeHead(answer ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answer ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const made: OauthServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    expiring: false,
    token: '',
    person: { id: 1, name: 'Ada', email: 'ada@example.test', verified: true },
    agree: (authorizationUrl) => {
      const asked = new URL(authorizationUrl).searchParams
      const redirectUri = asked.get('redirect_uri') ?? ''
      const code = randomUUID()
      const challenge = asked.get('code_challenge') ?? ''
      codes.set(code, { challenge, clientId: asked.get('client_id') ?? '', redirectUri, person: made.person })
      return `${redirectUri}?${new URLSearchParams({ code, state: asked.get('state') ?? '' })}`
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return made
}
