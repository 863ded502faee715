/**
 * Decides which URLs Dock may send to. The check and the request use the same parsed URL, so no second parser can see
 * another host. resolve-public.ts checks the addresses of its name.
 */
import { isIP } from 'node:net'
import type { OwnHosts } from './own-hosts.ts'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'

export type PublicUrl = {
  url: URL
  /** Host of the URL without the brackets of IPv6. */
  host: string
  /** Which addresses the host may have. */
  reach: 'public' | 'loopback'
  /** True if the operator's list has the host. */
  isNamed: boolean
}

/** A sentence for the user who entered the URL. */
export type UrlProblem = { problem: string }

export type UrlRules = {
  /** True in development: http and any port are allowed, but for loopback addresses only. */
  allowLoopback?: boolean
  /** What the operator allows besides the public internet. */
  own?: OwnHosts | undefined
}

const urlLengthMax = 2000
const nameLengthMax = 253

/** Names of private networks (RFC 6761, RFC 6762, RFC 8375), and those under which clouds offer their metadata. */
const privateSuffixes = ['localhost', 'localdomain', 'local', 'internal', 'home.arpa']

const isUnder = (name: string, suffix: string): boolean => name === suffix || name.endsWith(`.${suffix}`)

const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

const isLoopbackHost = (host: string): boolean => isUnder(host, 'localhost') || isLoopbackAddress(host)

/** The parser drops or converts these characters, so a user who reads the text would expect another URL. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const misleadingCharacters = /[\s\u0000-\u001f\u007f\\]/

/** An empty user (`https://@host`) is not visible in the parsed URL. */
const hasUserInfo = (text: string, url: URL): boolean =>
  url.username !== '' || url.password !== '' || /^[a-z][a-z0-9+.-]*:\/*[^/?#]*@/i.test(text)

const findTextProblem = (text: string): string | undefined => {
  if (text.length > urlLengthMax) return `The URL is longer than ${urlLengthMax} characters.`
  if (misleadingCharacters.test(text)) return 'The URL contains a space, a control character or a backslash.'
  if (text.includes('#')) return 'The URL has a fragment (#…), which is never sent. Leave it out.'
  return undefined
}

/** With networks of the operator in the list, the addresses of a private name decide. */
const findNameProblem = (name: string, own: OwnHosts | undefined): string | undefined => {
  if (name.endsWith('.')) return 'The host name ends in a dot. Leave the dot out.'
  if (name.length > nameLengthMax) return `The host name is longer than ${nameLengthMax} characters.`
  if (own?.hasNetworks && !isUnder(name, 'localhost')) return undefined
  if (!name.includes('.') || privateSuffixes.some((suffix) => isUnder(name, suffix)))
    return 'The host is a name of a private network. Use a name that is public on the internet.'
  return undefined
}

const findHostProblem = (host: string, own: OwnHosts | undefined): string | undefined => {
  if (isIP(host) === 0) return findNameProblem(host, own)
  return isPublicAddress(host) || own?.allows(host, false)
    ? undefined
    : 'The host is not a public address of the internet.'
}

/** Returns the parsed URL, or what is wrong with it. Resolves no name. */
export function checkPublicUrl(
  text: string,
  { allowLoopback = false, own }: UrlRules = {},
): PublicUrl | UrlProblem {
  const textProblem = findTextProblem(text)
  if (textProblem !== undefined) return { problem: textProblem }
  const url = URL.parse(text)
  if (url === null) return { problem: 'This is not a valid URL.' }
  if (hasUserInfo(text, url))
    return { problem: 'The URL contains a user name or a password. Leave them out.' }
  const host = hostOf(url)
  if (allowLoopback && ['http:', 'https:'].includes(url.protocol) && isLoopbackHost(host))
    return { url, host, reach: 'loopback', isNamed: false }
  if (url.protocol !== 'https:') return { problem: 'The URL must begin with https://.' }
  const isNamed = own?.names(host, Number(url.port || 443)) ?? false
  if (url.port !== '' && !isNamed) return { problem: 'The URL must use port 443.' }
  const hostProblem = isNamed ? undefined : findHostProblem(host, own)
  return hostProblem === undefined ? { url, host, reach: 'public', isNamed } : { problem: hostProblem }
}
