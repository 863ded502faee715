/**
 * Tells public addresses of the internet from all others. The tables are the IANA special-purpose address registries
 * for IPv4 and IPv6 (RFC 6890), both as of 2025-10-09. A range is refused even where its registry calls it globally
 * reachable, because no webhook receiver lives in it. Ranges of IPv6 that carry an IPv4 address are refused whole: the
 * address inside could be any.
 */
import { type IpAddress, type IpNetwork, isInNetwork, parseIp, parseNetwork } from '@dock/foundation'

/** Range, purpose, source. */
type Range = readonly [cidr: string, purpose: string, source: string]

const ipv4Ranges: readonly Range[] = [
  ['0.0.0.0/8', 'this network, and the unspecified address', 'RFC 791'],
  ['10.0.0.0/8', 'private use', 'RFC 1918'],
  ['100.64.0.0/10', 'shared address space', 'RFC 6598'],
  ['127.0.0.0/8', 'loopback', 'RFC 1122'],
  // Public by the registries, but on every machine of Azure it is the cloud's own agent.
  ['168.63.129.16/32', 'Azure platform', 'Azure documentation'],
  ['169.254.0.0/16', 'link local, and the metadata servers of clouds', 'RFC 3927'],
  ['172.16.0.0/12', 'private use', 'RFC 1918'],
  ['192.0.0.0/24', 'IETF protocol assignments', 'RFC 6890'],
  ['192.0.2.0/24', 'documentation', 'RFC 5737'],
  ['192.31.196.0/24', 'AS112', 'RFC 7535'],
  ['192.52.193.0/24', 'automatic multicast tunneling', 'RFC 7450'],
  ['192.88.99.0/24', '6to4 relay anycast', 'RFC 7526'],
  ['192.168.0.0/16', 'private use', 'RFC 1918'],
  ['192.175.48.0/24', 'AS112, direct delegation', 'RFC 7534'],
  ['198.18.0.0/15', 'benchmarking', 'RFC 2544'],
  ['198.51.100.0/24', 'documentation', 'RFC 5737'],
  ['203.0.113.0/24', 'documentation', 'RFC 5737'],
  ['224.0.0.0/4', 'multicast', 'RFC 5771'],
  ['240.0.0.0/4', 'reserved, and the limited broadcast', 'RFC 1112'],
]

/** Besides these, everything outside {@link ipv6Global} is refused. */
const ipv6Ranges: readonly Range[] = [
  ['::/96', 'unspecified, loopback, IPv4-compatible', 'RFC 4291'],
  ['::ffff:0:0/96', 'IPv4-mapped', 'RFC 4291'],
  ['64:ff9b::/96', 'IPv4 through NAT64', 'RFC 6052'],
  ['64:ff9b:1::/48', 'IPv4 through a local NAT64', 'RFC 8215'],
  ['100::/64', 'discard only', 'RFC 6666'],
  ['100:0:0:1::/64', 'dummy prefix', 'RFC 9780'],
  [
    '2001::/23',
    'IETF protocol assignments; Teredo, which carries two IPv4 addresses, is 2001::/32',
    'RFC 2928',
  ],
  ['2001:db8::/32', 'documentation', 'RFC 3849'],
  ['2002::/16', '6to4, carries an IPv4 address', 'RFC 3056'],
  ['2620:4f:8000::/48', 'AS112, direct delegation', 'RFC 7534'],
  ['3fff::/20', 'documentation', 'RFC 9637'],
  ['5f00::/16', 'segment routing', 'RFC 9602'],
  ['fc00::/7', 'unique local', 'RFC 4193'],
  ['fe80::/10', 'link local', 'RFC 4291'],
  ['fec0::/10', 'site local, deprecated', 'RFC 3879'],
  ['ff00::/8', 'multicast', 'RFC 4291'],
]

const ipv6Global = '2000::/3'

/** Returns the network of a text that is known to be one. */
export function toNetwork(cidr: string): IpNetwork {
  const network = parseNetwork(cidr)
  if (!network) throw new Error(`${cidr} is not a network`)
  return network
}

/** True if the address lies in one of the networks. */
export function isInAny(address: IpAddress, networks: readonly IpNetwork[]): boolean {
  return networks.some((network) => isInNetwork(address, network))
}

const special = [...ipv4Ranges, ...ipv6Ranges].map(([cidr]) => toNetwork(cidr))
const global = toNetwork(ipv6Global)
const loopback = ['127.0.0.0/8', '::1/128'].map(toNetwork)

/** ISATAP (RFC 5214) puts an IPv4 address behind these two groups in the lower half of any address. */
const isIsatap = (address: IpAddress): boolean => {
  if (address.kind() !== 'ipv6') return false
  const { parts } = address as Extract<IpAddress, { parts: number[] }>
  return (parts[4] === 0 || parts[4] === 0x0200) && parts[5] === 0x5efe
}

/** True if the text is an IPv4 or IPv6 address that anybody on the internet may have. */
export function isPublicAddress(text: string): boolean {
  const address = parseIp(text)
  if (!address || isInAny(address, special)) return false
  return address.kind() === 'ipv4' || (isInNetwork(address, global) && !isIsatap(address))
}

/** True for 127.0.0.0/8 and ::1, but not for an IPv6 address that carries a loopback address of IPv4. */
export function isLoopbackAddress(text: string): boolean {
  const address = parseIp(text)
  return address !== undefined && isInAny(address, loopback)
}
