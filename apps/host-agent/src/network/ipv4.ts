/** IPv4 addresses and ranges as numbers. */

/** A range: the first address and how many leading bits are fixed. */
export type Cidr = { base: number; bits: number }

/** The address as an unsigned number; undefined when the text is none. */
export function parseAddress(text: string): number | undefined {
  const parts = text.split('.')
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255))
    return undefined
  return parts.reduce((sum, part) => sum * 256 + Number(part), 0)
}

export function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
}

const sizeOf = ({ bits }: Cidr): number => 2 ** (32 - bits)

/** `a.b.c.d/n`, or an address alone as /32, its base rounded down. Undefined when the text is neither. */
export function parseCidr(text: string): Cidr | undefined {
  const [address = '', bitsText = '32', ...rest] = text.split('/')
  const base = parseAddress(address)
  const bits = Number(bitsText)
  if (base === undefined || rest.length > 0 || !/^\d{1,2}$/.test(bitsText) || bits > 32) return undefined
  const size = 2 ** (32 - bits)
  return { base: Math.floor(base / size) * size, bits }
}

export function formatCidr({ base, bits }: Cidr): string {
  return `${formatAddress(base)}/${bits}`
}

export function overlaps(one: Cidr, other: Cidr): boolean {
  return one.base < other.base + sizeOf(other) && other.base < one.base + sizeOf(one)
}

/** Ranges of an operator's comma list. Throws, naming the entry that is none. */
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
