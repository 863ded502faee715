/** Where hosted ports are found: `{scheme}://<port>-<label>.<domain>[:port]`. */
import { randomBase32 } from '@dock/foundation'

export type PortsDomain = {
  scheme: 'http' | 'https'
  /** In lower case, without a port. */
  domain: string
  /** The listening port that callers see; undefined for the scheme's own. */
  port: number | undefined
}

/** Random characters in a label: what makes an address one that nobody guesses. */
const labelLength = 20
const name = /^(\d{1,5})-([a-z2-7]{20})$/

export function newLabel(): string {
  return randomBase32(labelLength)
}

export function portUrl(
  { scheme, domain, port: listening }: PortsDomain,
  port: number,
  label: string,
): string {
  return `${scheme}://${port}-${label}.${domain}${listening === undefined ? '' : `:${listening}`}`
}

/** A host name below the domain: the port and label it names, or null when it names none. */
export type HostedName = { port: number; label: string } | null

/**
 * What a request's `Host` names: undefined when it lies outside the domain, so that the request is not for a Dock at
 * all. A port behind the name is the listener's business, not the name's.
 */
export function readHost({ domain }: PortsDomain, host: string | undefined): HostedName | undefined {
  const hostname = host?.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '') ?? ''
  if (hostname === domain) return null
  if (!hostname.endsWith(`.${domain}`)) return undefined
  const [, digits, label] = name.exec(hostname.slice(0, -domain.length - 1)) ?? []
  if (digits === undefined || label === undefined || digits.startsWith('0')) return null
  return { port: Number(digits), label }
}
