/** Git's own HTTP server, for fake git providers in tests. */
import { spawn } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Serves a request with git's http-backend as a CGI program. `path` is owner, name (`.git` optional) and git's path.
 */
export function serveGit(
  request: IncomingMessage,
  response: ServerResponse,
  { folder, path, user }: { folder: string; path: string; user: string },
): void {
  const child = spawn('git', ['http-backend'], {
    env: {
      ...{ PATH: process.env.PATH, GIT_PROJECT_ROOT: folder, GIT_HTTP_EXPORT_ALL: '1' },
      ...{
        PATH_INFO: path.replace(/^(\/[^/]+\/[^/.]+)(?=\/)/, '$1.git'),
        QUERY_STRING: request.url?.split('?')[1] ?? '',
        REMOTE_USER: user,
      },
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
