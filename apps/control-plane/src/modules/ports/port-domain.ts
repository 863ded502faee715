/** The URLs of hosted ports: `{scheme}://<port>-<label>.<domain>[:port]`. */
import { randomBase32 } from '@dock/foundation'

export type PortsDomain = {
  scheme: 'http' | 'https'
  /** In lower case, without a port. */
  domain: string
  /** The listening port in URLs. Undefined for the default port of the scheme. */
  port: number | undefined
}

/** Number of random characters in a label: 100 bits, so that nobody can guess a URL. */
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

/** The port and label in a host name below the domain, or null if the name is not well-formed. */
export type HostedName = { port: number; label: string } | null

/**
 * Parses a request's `Host` header. Returns undefined for a host outside the domain, which means that the request is
 * not for a Dock. Ignores the port in the header.
 */
export function readHost({ domain }: PortsDomain, host: string | undefined): HostedName | undefined {
  const hostname = host?.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '') ?? ''
  if (hostname === domain) return null
  if (!hostname.endsWith(`.${domain}`)) return undefined
  const [, digits, label] = name.exec(hostname.slice(0, -domain.length - 1)) ?? []
  if (digits === undefined || label === undefined || digits.startsWith('0')) return null
  return { port: Number(digits), label }
}
