/** IPv4 addresses and ranges as numbers. */

/** A range of addresses: the first one, and the number of leading bits that all have in common. */
export type Cidr = { base: number; bits: number }

/** Parses a dotted address into an unsigned number. Returns undefined if the text is not an address. */
export function parseAddress(text: string): number | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255))
    return undefined
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}

/** Returns the address in dotted form. */
export function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

const sizeOf = ({ bits }: Cidr): number => 2 ** (32 - bits)

/**
 * Parses `a.b.c.d/n`, or an address as a range of one. Rounds the address down to the start of the range. Returns
 * undefined if the text is neither.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', bitsText = '32', ...rest] = text.split('/')
  const base = parseAddress(address)
  const bits = Number(bitsText)
  if (base === undefined || rest.length > 0 || !/^\d{1,2}$/.test(bitsText) || bits > 32) return undefined
  const size = 2 ** (32 - bits)
  return { base: Math.floor(base / size) * size, bits }
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
