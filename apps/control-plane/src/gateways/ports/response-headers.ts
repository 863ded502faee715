/** What of a Dock's answer goes to the client: nothing that concerns the hop behind us, no cookie for other names. */
import type { IncomingHttpHeaders } from 'node:http'

const ownHop = ['keep-alive', 'proxy-connection', 'proxy-authenticate', 'trailer', 'te']
const domainAttribute = /^\s*domain\s*(=|$)/i

/** Without its domain, a cookie is for the very name that set it: one Dock's are never another's. */
const withoutDomain = (cookie: string): string =>
  cookie
    .split(';')
    .filter((part, index) => index === 0 || !domainAttribute.test(part))
    .join(';')

/** Changes the headers in place, before they are copied into the answer. An upgrade keeps what makes it one. */
export function cleanResponseHeaders(headers: IncomingHttpHeaders, isUpgrade: boolean): void {
  const named = isUpgrade ? [] : (headers.connection?.toLowerCase().split(',') ?? [])
  for (const name of [...named.map((each) => each.trim()), ...ownHop])
    if (name !== 'content-length' && name !== 'transfer-encoding' && name !== 'set-cookie')
      delete headers[name]
  if (!isUpgrade) {
    delete headers.connection
    delete headers.upgrade
  }
  if (headers['set-cookie']) headers['set-cookie'] = headers['set-cookie'].map(withoutDomain)
}
