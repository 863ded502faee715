import { isIPv4, isIPv6 } from 'node:net'

const networkGroups = 4

/** Turns the IPv4-mapped form of a dual-stack socket (`::ffff:192.0.2.1`) into IPv4. */
export function unmapAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}

/**
 * Returns what limits per address count: an IPv4 address, also in its IPv4-mapped form, or the /64 network of an IPv6
 * address. One subscriber has all addresses of such a network.
 */
export function networkOf(address: string): string {
  const bare = unmapAddress(address)
  if (!isIPv6(bare)) return bare
  const [head = '', tail] = bare.split('%')[0]!.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const missing = tail === undefined ? 0 : Math.max(8 - left.length - right.length, 0)
  const groups = [...left, ...Array<string>(missing).fill('0'), ...right]
  return `${groups
    .slice(0, networkGroups)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

/** Returns the network that one sender of many addresses may have: the /24 of an IPv4 address, the /48 of an IPv6 one. */
export function wideNetworkOf(address: string): string {
  const network = networkOf(address)
  if (isIPv4(network)) return `${network.split('.').slice(0, 3).join('.')}.0/24`
  return network.replace(/:[^:]*::\/64$/, '::/48')
}
