/** Cleans a Dock's response headers before they go to the client: hop-by-hop headers, and the domains of cookies. */
import type { IncomingHttpHeaders } from 'node:http'

const hopByHop = ['keep-alive', 'proxy-connection', 'proxy-authenticate', 'trailer', 'te']
const domainAttribute = /^\s*domain\s*(=|$)/i

/** A cookie without a domain is sent only to the host name that set it, so Docks cannot set each other's cookies. */
const withoutDomain = (cookie: string): string =>
  cookie
    .split(';')
    .filter((part, index) => index === 0 || !domainAttribute.test(part))
    .join(';')

/** Changes the headers in place, before they are copied into the response. An upgrade keeps its upgrade headers. */
export function cleanResponseHeaders(headers: IncomingHttpHeaders, isUpgrade: boolean): void {
  const named = isUpgrade ? [] : (headers.connection?.toLowerCase().split(',') ?? [])
  for (const name of [...named.map((each) => each.trim()), ...hopByHop])
    if (name !== 'content-length' && name !== 'transfer-encoding' && name !== 'set-cookie')
      delete headers[name]
  if (!isUpgrade) {
    delete headers.connection
    delete headers.upgrade
  }
  if (headers['set-cookie']) headers['set-cookie'] = headers['set-cookie'].map(withoutDomain)
}
