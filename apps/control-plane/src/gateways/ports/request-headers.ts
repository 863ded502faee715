/**
 * Cleans a request's headers before they go to a Dock: removes the platform's own credentials and the hop-by-hop
 * headers, and replaces headers about the request's origin with values that this gateway knows itself.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { isPlatformCookie } from '../../modules/accounts/index.ts'

/** Headers that frame or route the request. They are kept even if `Connection` lists them as hop-by-hop. */
const framing = new Set(['content-length', 'transfer-encoding', 'host'])
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  // This server has already responded to it.
  'expect',
]
const origin = [
  'forwarded',
  'via',
  'x-real-ip',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
]
const platformKey = /^\s*bearer\s+dock_/i

const withoutPlatformCookies = (header: string): string =>
  header
    .split(';')
    .filter((pair) => !isPlatformCookie((pair.split('=')[0] ?? '').trim()))
    .join(';')
    .trim()

/** `localHost` is the host that the program sees. Undefined: the public one. */
export type Origin = { clientAddress: string; scheme: 'http' | 'https'; localHost: string | undefined }

/** Changes the headers in place, before they are copied into the request to the Dock. */
export function cleanRequestHeaders(
  headers: IncomingHttpHeaders,
  { clientAddress, scheme, localHost }: Origin,
  upgrade: 'websocket' | null,
): void {
  const named = headers.connection?.toLowerCase().split(',') ?? []
  for (const name of [...named.map((each) => each.trim()), ...hopByHop, ...origin])
    if (!framing.has(name)) delete headers[name]
  if (headers.authorization !== undefined && platformKey.test(headers.authorization))
    delete headers.authorization
  if (headers.cookie !== undefined) {
    const cookie = withoutPlatformCookies(headers.cookie)
    if (cookie === '') delete headers.cookie
    else headers.cookie = cookie
  }
  const { host = '' } = headers
  headers['x-forwarded-for'] = clientAddress
  headers['x-forwarded-host'] = host
  headers['x-forwarded-proto'] = scheme
  headers['x-forwarded-port'] = /:(\d+)$/.exec(host)?.[1] ?? (scheme === 'https' ? '443' : '80')
  headers.connection = upgrade ? 'Upgrade' : 'keep-alive'
  if (upgrade) headers.upgrade = upgrade
  if (localHost === undefined) return
  headers.host = localHost
  // Servers of WebSockets compare the two. Forms keep theirs: frameworks compare it with X-Forwarded-Host.
  if (upgrade && headers.origin?.toLowerCase() === `${scheme}://${host}`.toLowerCase())
    headers.origin = `http://${localHost}`
}
