/** The client's address: the peer's, or the one that a trusted proxy reports in `X-Forwarded-For`. */
import { BlockList, isIP } from 'node:net'
import { parseNetwork, unmapAddress } from '@dock/foundation'

/** Returns the client's address, given the socket's peer and the raw `X-Forwarded-For` header. */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | null) => string

const family = (address: string): 'ipv4' | 'ipv6' | null => {
  const version = isIP(address)
  return version === 0 ? null : version === 4 ? 'ipv4' : 'ipv6'
}

/** Turns the IPv4-mapped form of a dual-stack socket (`::ffff:192.0.2.1`) into IPv4, and removes a port. */
const plain = (address: string): string => {
  const bare = address.trim().replace(/^\[(.+)\](:\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1$3')
  return unmapAddress(bare)
}

/** True if the text is an IP address or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  return parseNetwork(text) !== undefined
}

/** Returns node's own list: it is asked for each request, and a network of IPv6 in it matches mapped IPv4 addresses. */
const listOf = (texts: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const text of texts) {
    const network = parseNetwork(text)
    if (!network) throw new Error(`${text} is neither an IP address nor a network`)
    list.addSubnet(network.address.toString(), network.bits, network.address.kind())
  }
  return list
}

/** Returns a function that tells whether an address, also in its IPv4-mapped form, is in one of the networks. */
export function isIn(networks: readonly string[]): (address: string) => boolean {
  const list = listOf(networks)
  return (text) => {
    const address = plain(text)
    const kind = family(address)
    return kind !== null && list.check(address, kind)
  }
}

/**
 * Reads `X-Forwarded-For` from its end, where the nearest proxy wrote. The first address that is not a trusted proxy is
 * the client's. Entries before that one are ignored: any client can forge them.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const isTrusted = isIn(trustedProxies)
  return (peer, forwardedFor) => {
    let client = plain(peer ?? 'local')
    if (trustedProxies.length === 0) return client
    const hops = forwardedFor?.split(',').map(plain) ?? []
    while (isTrusted(client)) {
      const hop = hops.pop()
      if (hop === undefined || family(hop) === null) break
      client = hop
    }
    return client
  }
}
