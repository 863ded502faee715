/**
 * Tells public addresses of the internet from all others. The tables are the IANA special-purpose address registries
 * for IPv4 and IPv6 (RFC 6890), both as of 2025-10-09. A range is refused even where its registry calls it globally
 * reachable, because no webhook receiver lives in it. Ranges of IPv6 that carry an IPv4 address are refused whole: the
 * address inside could be any.
 */
import { isIP } from 'node:net'

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

export type Bits = { value: bigint; length: 32 | 128 }

const joinGroups = (groups: readonly number[], bitsEach: bigint): bigint =>
  groups.reduce((value, group) => (value << bitsEach) | BigInt(group), 0n)

const ipv4Value = (address: string): bigint => joinGroups(address.split('.').map(Number), 8n)

const ipv6Value = (address: string): bigint => {
  const hexadecimal = address.replace(/\d+\.\d+\.\d+\.\d+$/, (tail) => {
    const value = ipv4Value(tail)
    return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`
  })
  const [before = [], after] = hexadecimal
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))))
  const zeros = after ? Array<number>(8 - before.length - after.length).fill(0) : []
  return joinGroups([...before, ...zeros, ...(after ?? [])], 16n)
}

/** Returns the bits of an address, which must be a plain one. */
export function toBits(address: string): Bits {
  return isIP(address) === 4
    ? { value: ipv4Value(address), length: 32 }
    : { value: ipv6Value(address), length: 128 }
}

/** Returns a predicate: true if an address of the same length lies in the range. */
export function createRangeTest(cidr: string): (bits: Bits) => boolean {
  const [start = '', prefix = ''] = cidr.split('/')
  const { value, length } = toBits(start)
  const shift = BigInt(length - Number(prefix))
  return (bits) => bits.length === length && bits.value >> shift === value >> shift
}

const specialTests = [...ipv4Ranges, ...ipv6Ranges].map(([cidr]) => createRangeTest(cidr))
const isIpv6Global = createRangeTest(ipv6Global)
const loopbackTests = ['127.0.0.0/8', '::1/128'].map(createRangeTest)

/** ISATAP (RFC 5214) puts an IPv4 address behind these in the lower half of any address. */
const isIsatap = ({ value }: Bits): boolean => {
  const marker = (value >> 32n) & 0xffff_ffffn
  return marker === 0x0000_5efen || marker === 0x0200_5efen
}

/** An address with a zone (`fe80::1%eth0`) only means something on one machine. */
export function isPlainAddress(address: string): boolean {
  return isIP(address) !== 0 && !address.includes('%')
}

/** True if the text is an IPv4 or IPv6 address that anybody on the internet may have. */
export function isPublicAddress(address: string): boolean {
  if (!isPlainAddress(address)) return false
  const bits = toBits(address)
  if (specialTests.some((isInRange) => isInRange(bits))) return false
  return bits.length === 32 || (isIpv6Global(bits) && !isIsatap(bits))
}

/** True for 127.0.0.0/8 and ::1, but not for an IPv6 address that carries a loopback address of IPv4. */
export function isLoopbackAddress(address: string): boolean {
  if (!isPlainAddress(address)) return false
  const bits = toBits(address)
  return loopbackTests.some((isInRange) => isInRange(bits))
}

/** True if both texts write the same address. */
export function isSameAddress(one: string, other: string): boolean {
  if (!isPlainAddress(one) || !isPlainAddress(other)) return false
  const [a, b] = [toBits(one), toBits(other)]
  return a.length === b.length && a.value === b.value
}
