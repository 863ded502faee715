/**
 * Cleans a Dock's status line and response headers before they go to the client: what HTTP does not allow, hop-by-hop
 * headers, and the domains of cookies.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

const hopByHop = ['keep-alive', 'proxy-connection', 'proxy-authenticate', 'trailer', 'te']
const domainAttribute = /^\s*domain\s*(=|$)/i

/** A cookie without a domain is sent only to the host name that set it, so Docks cannot set each other's cookies. */
const withoutDomain = (cookie: string): string =>
  cookie
    .split(';')
    .filter((part, index) => index === 0 || !domainAttribute.test(part))
    .join(';')

/** What RFC 9112 allows in a reason. Node's parser accepts other bytes, and its server throws when it writes them. */
const validReason = /^[\t\x20-\x7e\x80-\xff]*$/

/** Returns true for the codes of final responses (RFC 9110). Node's parser accepts 000 too, and its server throws. */
export function isFinalStatus(status = 0): boolean {
  return status >= 200 && status <= 599
}

/**
 * Returns true if every recipient finds the same end of the response: in chunks of HTTP/1.1, with a length, or up to the
 * end of the connection. Node's parser reads a response with any other coding to the end of the connection, but the
 * coding would stand in the header for the client, and a proxy in front may take it for a response without a body.
 */
export function hasClearEnd({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const [coding, ...more] = headersDistinct['transfer-encoding'] ?? []
  if (coding === undefined) return true
  return more.length === 0 && httpVersion === '1.1' && /^[ \t]*chunked[ \t]*$/i.test(coding)
}

/** Removes a reason that is not valid. Node then sends the standard one. */
export function cleanReason(answer: IncomingMessage): void {
  if (!validReason.test(answer.statusMessage ?? '')) answer.statusMessage = ''
}

/** Changes the headers in place, before they are copied into the response. An upgrade is one to a WebSocket. */
export function cleanResponseHeaders(headers: IncomingHttpHeaders, isUpgrade: boolean): void {
  const named = isUpgrade ? [] : (headers.connection?.toLowerCase().split(',') ?? [])
  for (const name of [...named.map((each) => each.trim()), ...hopByHop])
    if (name !== 'content-length' && name !== 'transfer-encoding' && name !== 'set-cookie')
      delete headers[name]
  if (isUpgrade) {
    // Only a WebSocket was offered. The connection carries no HTTP any more, so a length or a coding says nothing.
    headers.connection = 'Upgrade'
    headers.upgrade = 'websocket'
    delete headers['content-length']
    delete headers['transfer-encoding']
  } else {
    delete headers.connection
    delete headers.upgrade
  }
  if (headers['set-cookie']) headers['set-cookie'] = headers['set-cookie'].map(withoutDomain)
}
