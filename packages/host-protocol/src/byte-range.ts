/** A single byte range of a file, as in HTTP (RFC 9110, section 14.1.2). */

/** The bytes from `first` to `last` inclusive, or to the end. Without `first`: the last `last` bytes of the file. */
export type ByteRange = { first?: number; last?: number }

const written = /^(\d{0,15})-(\d{0,15})$/

/** Parses `0-99`, `100-` or `-500`. Returns null for anything else, including several ranges. */
export function parseByteRange(text: string): ByteRange | null {
  const [, first, last] = written.exec(text.trim()) ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return null
  const range: ByteRange = {
    ...(first === '' ? {} : { first: Number(first) }),
    ...(last === '' ? {} : { last: Number(last) }),
  }
  return range.first !== undefined && range.last !== undefined && range.last < range.first ? null : range
}

export function writeByteRange({ first, last }: ByteRange): string {
  return `${first ?? ''}-${last ?? ''}`
}

/** Resolves the range in a file of `size` bytes; `end` is exclusive. Returns null if the range selects no bytes. */
export function placeByteRange(
  { first, last }: ByteRange,
  size: number,
): { start: number; end: number } | null {
  const start = first ?? Math.max(0, size - (last ?? 0))
  const end = first === undefined || last === undefined ? size : Math.min(size, last + 1)
  return start < end ? { start, end } : null
}
