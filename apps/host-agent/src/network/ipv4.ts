/** IPv4 addresses and ranges as numbers. */
import { parseNetwork } from '@dock/foundation'

/** A range of addresses: the first one, and the number of leading bits that all have in common. */
export type Cidr = { base: number; bits: number }

/** Returns the address in dotted form. */
export function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

const sizeOf = ({ bits }: Pick<Cidr, 'bits'>): number => 2 ** (32 - bits)

/**
 * Parses `a.b.c.d/n`, or an address as a range of one. Rounds the address down to the start of the range. Returns
 * undefined if the text is neither.
 */
export function parseCidr(text: string): Cidr | undefined {
  const network = parseNetwork(text)
  if (network?.address.kind() !== 'ipv4') return undefined
  const { address, bits } = network
  const value = address.toByteArray().reduce((sum, byte) => sum * 256 + byte, 0)
  const size = sizeOf({ bits })
  return { base: Math.floor(value / size) * size, bits }
}

/** Returns the range as `a.b.c.d/n`. */
export function formatCidr({ base, bits }: Cidr): string {
  return `${formatAddress(base)}/${bits}`
}

/** Returns true if an address lies in both ranges. */
export function overlaps(one: Cidr, other: Cidr): boolean {
  return one.base < other.base + sizeOf(other) && other.base < one.base + sizeOf(one)
}

/** Parses the ranges in a comma-separated list. Throws an error that names an entry which is not a range. */
export function parseCidrList(text: string): Cidr[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const cidr = parseCidr(entry)
      if (!cidr) throw new Error(`${entry} is not an IPv4 range such as 10.1.2.0/24`)
      return cidr
    })
}
