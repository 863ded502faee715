/** The token endpoints of GitHub and GitLab for tests: refresh, and narrowing a token to one repository. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type GitProviderServer = {
  url: string
  /** Received requests, oldest first. */
  asked: { path: string; body: Record<string, unknown>; authorization: string | undefined }[]
  /** If set, the status of all responses. */
  status: number | null
  /** Lifetime of narrowed tokens. Null: the response names no expiry. */
  expiresInMs: number | null
  /** Valid refresh tokens. Each works once. */
  refreshTokens: Set<string>
  close(): Promise<void>
}

export async function startGitProvider(): Promise<GitProviderServer> {
  const answer = (path: string, body: Record<string, unknown>): [number, object] => {
    if (path.endsWith('/token/scoped')) {
      const [repository] = body.repositories as string[]
      const expiry =
        made.expiresInMs === null ? {} : { expires_at: new Date(Date.now() + made.expiresInMs).toISOString() }
      return [
        200,
        { token: `for ${String(body.target)}/${repository} of ${String(body.access_token)}`, ...expiry },
      ]
    }
    const refreshToken = String(body.refresh_token)
    if (!made.refreshTokens.delete(refreshToken)) return [400, { error: 'invalid_grant' }]
    made.refreshTokens.add(`${refreshToken}+`)
    return [
      200,
      { access_token: `renewed by ${refreshToken}`, refresh_token: `${refreshToken}+`, expires_in: 7200 },
    ]
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text) as Record<string, unknown>
    const path = request.url ?? ''
    made.asked.push({ path, body, authorization: request.headers.authorization })
    const [status, told] = made.status === null ? answer(path, body) : [made.status, {}]
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(told))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const made: GitProviderServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    status: null,
    expiresInMs: null,
    refreshTokens: new Set(),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return made
}
