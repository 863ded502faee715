/** Parses the setting `PORTS_DOMAIN`, the domain of hosted ports. */
import type { PortsDomain } from './port-domain.ts'

const embeddedDomain = 'docks.localhost'
const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/
const wellFormed = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?(:\d{1,5})?$/i

/** True if one domain is a subdomain of the other, so that a page on one could set cookies for the other. */
const isRelated = (one: string, other: string): boolean =>
  one === other || one.endsWith(`.${other}`) || other.endsWith(`.${one}`)

/**
 * The setting is `domain[:port]` or `off`. If it is not set, an instance on a loopback address uses `docks.localhost`,
 * and any other instance has no hosted ports. Returns null if hosted ports are off. Throws an Error that says what to
 * change if the setting is malformed or the domain shares cookies with the service.
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
      `PORTS_DOMAIN: '${wanted}' must be a domain with at least two labels and an optional port, or off`,
    )
  const [domain = '', port] = wanted.toLowerCase().split(':')
  for (const { hostname } of [api, new URL(appUrl)]) {
    // Browsers do not let a page set cookies for all of localhost.
    if (hostname === 'localhost' || !isRelated(hostname, domain)) continue
    throw new Error(
      `PORTS_DOMAIN: ${domain} and ${hostname} must not be equal or subdomains of each other, because pages from Docks could set cookies for the service. Choose a separate domain.`,
    )
  }
  const scheme = api.protocol === 'https:' ? 'https' : 'http'
  const shown = port ?? api.port
  return { scheme, domain, port: shown === '' ? undefined : Number(shown) }
}
