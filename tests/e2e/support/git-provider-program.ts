/**
 * A fake git provider over TLS: git's http-backend with authentication, and the endpoints of GitHub and GitLab for sign-in
 * and tokens. Arguments: address, port, folder of bare repositories, key, certificate. Repositories below `open/` are
 * public; those below `moved/` redirect to `open/`; those below `closed/` and `absent/` get 403 and 404. Each request is logged as
 * a line of JSON to standard output.
 */
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import { serveGit } from '@dock/testkit/src/github/git-http-backend.ts'

const [, , address = '', port = '', folder = '', key = '', certificate = ''] = process.argv

/** Returns the token for one repository. The provider issues none for `acme/hidden`. */
const tokenOf = (repository: string): string => `canary-scoped-${repository.replace('/', '-')}`
const repositoryPath = /^\/([a-z]+\/[a-z-]+)(?:\.git)?(\/.*)$/
/** True for the repository's token (GitHub) or the person's token (GitLab). */
const isCredentialOf = (
  repository: string,
  name: string | undefined,
  password: string | undefined,
): boolean =>
  (name === 'x-access-token' && password === tokenOf(repository)) ||
  (name === 'oauth2' && password === 'canary-person')

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

const tell = (response: ServerResponse, status: number, answer: unknown): void => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
}

const serveApi = async (path: string, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const body = await bodyOf(request)
  if (path === '/login/oauth/access_token' || path === '/oauth/token')
    return tell(response, 200, {
      ...{ access_token: 'canary-person', refresh_token: 'canary-refresh', expires_in: 28_800 },
      ...{ token_type: 'bearer', scope: '' },
    })
  if (path === '/api/v3/user') return tell(response, 200, { id: 7, login: 'ada', name: 'Ada' })
  if (path === '/api/v4/user')
    return tell(response, 200, {
      ...{ id: 7, username: 'ada', name: 'Ada', email: 'ada@example.test' },
      confirmed_at: '2026-01-01T00:00:00Z',
    })
  if (path === '/api/v3/user/emails')
    return tell(response, 200, [{ email: 'ada@example.test', primary: true, verified: true }])
  if (path.endsWith('/token/scoped')) {
    const asked = JSON.parse(body) as { access_token: string; target: string; repositories: string[] }
    const [name] = asked.repositories
    const isGiven = asked.access_token === 'canary-person' && name !== 'hidden'
    return tell(response, isGiven ? 200 : 422, isGiven ? { token: tokenOf(`${asked.target}/${name}`) } : {})
  }
  tell(response, 404, {})
}

const serve = (request: IncomingMessage, response: ServerResponse): void => {
  const url = new URL(request.url ?? '/', 'https://provider')
  const hasCredential = request.headers.authorization !== undefined
  process.stdout.write(`${JSON.stringify({ method: request.method, url: request.url, hasCredential })}\n`)
  const repository = repositoryPath.exec(url.pathname)?.[1]
  if (!repository || url.pathname.startsWith('/api/') || /^\/(login\/)?oauth\//.test(url.pathname))
    return void serveApi(url.pathname, request, response)
  if (repository.startsWith('moved/')) {
    request.resume()
    response.writeHead(301, { location: String(request.url).replace('/moved/', '/open/') }).end()
    return
  }
  const refusal = { closed: 403, absent: 404 }[repository.split('/')[0] ?? '']
  if (refusal !== undefined) {
    request.resume()
    response.writeHead(refusal, { 'content-type': 'text/plain' }).end('Words of the provider.\n')
    return
  }
  const [name, password] = Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64')
    .toString()
    .split(':')
  const isKnown = isCredentialOf(repository, name, password)
  const isRead = !url.href.includes('receive-pack')
  if (isKnown || (isRead && repository.startsWith('open/')))
    return void serveGit(request, response, { folder, path: url.pathname, user: isKnown ? 'ada' : '' })
  request.resume()
  response.writeHead(401, { 'www-authenticate': 'Basic realm="repositories"' }).end()
}

createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, serve).listen(
  Number(port),
  address,
  () => process.stdout.write('ready\n'),
)
