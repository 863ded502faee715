/** The setting `PORTS_DOMAIN`: where hosted ports are found, or that there are none. */
import type { PortsDomain } from './port-domain.ts'

const embeddedDomain = 'docks.localhost'
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/
const wellFormed = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?(:\d{1,5})?$/i

/** Whether one of the two lies below the other, so that a page of the one could set cookies for the other. */
const isRelated = (one: string, other: string): boolean =>
  one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`)

/**
 * `off`, or `domain[:port]`. Unset, an instance that is reached by loopback alone has `docks.localhost`, any other has
 * none. Throws, saying what to choose, for a domain that shares cookies with the service itself.
 */
export function readPortsDomain(
  setting: string | undefined,
  { apiUrl, appUrl }: { apiUrl: string; appUrl: string },
): PortsDomain | null {
  const api = new URL(apiUrl)
  const isLocal = loopback.test(api.hostname)
  const wanted = setting ?? (isLocal ? embeddedDomain : 'off')
  if (wanted === 'off') return null
  if (!wellFormed.test(wanted))
    throw new Error(
      `PORTS_DOMAIN: '${wanted}' must be a domain of at least two parts, with or without a port, or off`,
    )
  const [domain = '', port] = wanted.toLowerCase().split(':')
  for (const { hostname } of [api, new URL(appUrl)]) {
    // No browser lets a page set cookies for the whole of localhost.
    if (hostname === 'localhost' || !isRelated(hostname, domain)) continue
    throw new Error(
      `PORTS_DOMAIN: ${domain} and ${hostname} must not lie below one another: pages from Docks could set cookies for the service. Choose a domain of its own.`,
    )
  }
  const scheme = api.protocol === 'https:' ? 'https' : 'http'
  const shown = port ?? api.port
  return { scheme, domain, port: shown === '' ? undefined : Number(shown) }
}
