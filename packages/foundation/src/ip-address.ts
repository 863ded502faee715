/**
 * IP addresses and networks. ipaddr.js does the arithmetic; node decides what is an address, because ipaddr.js alone also
 * reads octal and short forms (`0177.1`), which other programs take for other addresses.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6
/** An address of the network, and the number of leading bits that all its addresses have in common. */
export type IpNetwork = { address: IpAddress; bits: number }

/**
 * Returns the address, or undefined if the text is not one. An address with a zone (`fe80::1%eth0`) only means something
 * on one machine, so it is not one either.
 */
export function parseIp(text: string): IpAddress | undefined {
  const version = isIP(text)
  if (version === 4) return ipaddr.IPv4.parse(text)
  return version === 0 || text.includes('%') ? undefined : ipaddr.IPv6.parse(text)
}

/** Returns the network that `address/bits` writes, or of one address without bits. Returns undefined for other texts. */
export function parseNetwork(text: string): IpNetwork | undefined {
  const [start = '', bits, ...more] = text.split('/')
  const address = parseIp(start)
  if (!address || more.length > 0) return undefined
  const bitsMax = address.kind() === 'ipv4' ? 32 : 128
  if (bits === undefined) return { address, bits: bitsMax }
  return /^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax ? { address, bits: Number(bits) } : undefined
}

/** True if the address lies in the network. An IPv6 address that carries an IPv4 address is in no network of IPv4. */
export function isInNetwork(address: IpAddress, network: IpNetwork): boolean {
  return address.kind() === network.address.kind() && address.match(network.address, network.bits)
}

/** True if both texts write the same address. */
export function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [parseIp(one), parseIp(other)]
  return a !== undefined && b !== undefined && a.kind() === b.kind() && a.toString() === b.toString()
}

/** Turns the IPv4-mapped form of a dual-stack socket (`::ffff:192.0.2.1`) into IPv4. */
export function unmapAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i, '')
}

/** Returns the first groups of an IPv6 address. By hand: this runs for each request, and ipaddr.js takes longer. */
const groupsOf = (address: string, count: number): string => {
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : Math.max(8 - left.length - right.length, 0)
  return [...left, ...Array<string>(zeros).fill('0'), ...right]
    .slice(0, count)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')
}

/**
 * Returns what limits per address count: an IPv4 address, also in its IPv4-mapped form, or the /64 network of an IPv6
 * address. One subscriber has all addresses of such a network.
 */
export function networkOf(address: string): string {
  const bare = unmapAddress(address)
  return isIP(bare) === 6 ? `${groupsOf(bare, 4)}::/64` : bare
}

/** Returns the network that one sender of many addresses may have: the /24 of an IPv4 address, the /48 of an IPv6 one. */
export function wideNetworkOf(address: string): string {
  const bare = unmapAddress(address)
  const version = isIP(bare)
  if (version === 4) return bare.replace(/\d+$/, '0/24')
  return version === 6 ? `${groupsOf(bare, 3)}::/48` : bare
}
