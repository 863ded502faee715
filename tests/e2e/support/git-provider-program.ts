/**
 * A provider of repositories in one process: git's own http-backend behind authentication, and GitHub's ways of signing in,
 * granting and narrowing tokens. Arguments: address, port, folder of bare repositories. Those below `open/` are public.
 */
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

const [, , address = '', port = '', folder = ''] = process.argv

/** The token for one repository; nobody is given one for `acme/hidden`. */
const tokenOf = (repository: string): string => `canary-scoped-${repository.replace('/', '-')}`
const repositoryPath = /^\/([a-z]+\/[a-z]+)\.git(\/.*)$/

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
  if (path === '/login/oauth/access_token')
    return tell(response, 200, {
      ...{ access_token: 'canary-person', refresh_token: 'canary-refresh', expires_in: 28_800 },
      ...{ token_type: 'bearer', scope: '' },
    })
  if (path === '/api/v3/user') return tell(response, 200, { id: 7, login: 'ada', name: 'Ada' })
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

/** git's http-backend as a CGI program. */
const serveGit = (url: URL, request: IncomingMessage, response: ServerResponse, user: string): void => {
  const child = spawn('git', ['http-backend'], {
    env: {
      ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: '1' },
      ...{ PATH_INFO: url.pathname, QUERY_STRING: url.search.slice(1), REMOTE_USER: user },
      ...{ REQUEST_METHOD: request.method, CONTENT_TYPE: request.headers['content-type'] ?? '' },
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      GIT_CONFIG_COUNT: '1',
      ...{ GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' },
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => undefined)
  request.pipe(child.stdin)
  let head = Buffer.alloc(0)
  const readHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) return
    child.stdout.off('data', readHead)
    const lines = head.subarray(0, end).toString().split('\r\n')
    const headers = Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]))
    response.writeHead(Number.parseInt(headers.Status ?? '200', 10), headers)
    response.write(head.subarray(end + 4))
    child.stdout.pipe(response)
  }
  child.stdout.on('data', readHead)
}

createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://provider')
  const repository = repositoryPath.exec(url.pathname)?.[1]
  if (!repository) return void serveApi(url.pathname, request, response)
  const [name, password] = Buffer.from(request.headers.authorization?.replace('Basic ', '') ?? '', 'base64')
    .toString()
    .split(':')
  const isKnown = name === 'x-access-token' && password === tokenOf(repository)
  const isRead = !url.href.includes('receive-pack')
  if (isKnown || (isRead && repository.startsWith('open/')))
    return serveGit(url, request, response, isKnown ? 'ada' : '')
  request.resume()
  response.writeHead(401, { 'www-authenticate': 'Basic realm="repositories"' }).end()
}).listen(Number(port), address, () => process.stdout.write('ready\n'))
