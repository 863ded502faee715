/**
 * Names of files are bytes, and JSON is text. A byte that is not part of valid UTF-8 is written as one code unit from
 * U+DC80 to U+DCFF, as Python's `surrogateescape` does (PEP 383), so that every name has a text and returns from it.
 */
// Without the marks, every program that imports the contract would keep both.
const encoder = /* @__PURE__ */ new TextEncoder()
const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A code unit that stands for one byte. With the flag `u`, halves of a pair do not match. */
const escapedByte = /([\udc80-\udcff])/u

/** Returns the bytes that the text stands for. */
export function bytesOfName(text: string): Uint8Array {
  const parts = text
    .split(escapedByte)
    .map((part, index) =>
      index % 2 === 1 ? Uint8Array.of(part.charCodeAt(0) - 0xdc00) : encoder.encode(part),
    )
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

const decode = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** Returns the length of a character of UTF-8 that begins with this byte, or 1. */
const lengthOf = (first: number): number => {
  if (first >= 0xf0) return 4
  if (first >= 0xe0) return 3
  return first >= 0xc0 ? 2 : 1
}

/** Returns the text for these bytes; {@link bytesOfName} returns the same bytes for it. */
export function nameOfBytes(bytes: Uint8Array): string {
  const whole = decode(bytes)
  if (whole !== undefined) return whole
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at]!
    const length = lengthOf(first)
    const character = decode(bytes.subarray(at, at + length))
    text += character ?? String.fromCharCode(0xdc00 + first)
    at += character === undefined ? 1 : length
  }
  return text
}

/** Returns true if the text stands for bytes: it has no lone surrogate that stands for none. */
export function isByteName(text: string): boolean {
  return !/[\ud800-\udc7f\udd00-\udfff]/u.test(text)
}

/** Returns the text percent-encoded, each byte of its name as that byte. */
export function encodeNameForUrl(text: string): string {
  return text
    .split(escapedByte)
    .map((part, index) =>
      index % 2 === 1
        ? `%${(part.charCodeAt(0) - 0xdc00).toString(16).toUpperCase()}`
        : encodeURIComponent(part.toWellFormed()),
    )
    .join('')
}
