/** Where a request comes from: the peer, or what proxies that the operator trusts say of it. */
import { BlockList, isIP } from 'node:net'

/** The address of the client, given the socket's peer and the header `X-Forwarded-For` as it came. */
export type ClientAddress = (peer: string | undefined, forwardedFor: string | null) => string

const family = (address: string): 'ipv4' | 'ipv6' | null => {
  const version = isIP(address)
  return version === 0 ? null : version === 4 ? 'ipv4' : 'ipv6'
}

/** IPv4 as a dual-stack socket tells it, `::ffff:192.0.2.1`, is IPv4; a port that some proxies add goes. */
const plain = (address: string): string => {
  const bare = address.trim().replace(/^\[(.+)\](:\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/, '$1$3')
  return bare.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}

/** Whether a text names one address or a network in CIDR form. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const kind = family(address)
  if (!kind || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (kind === 'ipv4' ? 32 : 128))
}

const listOf = (networks: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const kind = family(address)!
    if (bits === undefined) list.addAddress(address, kind)
    else list.addSubnet(address, Number(bits), kind)
  }
  return list
}

/**
 * Reads the header from its end, where the proxy nearest to us wrote: the first address that is no trusted proxy is
 * the client's. What stands before it anybody can have made up.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = listOf(trustedProxies)
  const isTrusted = (address: string): boolean => {
    const kind = family(address)
    return kind !== null && trusted.check(address, kind)
  }
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
