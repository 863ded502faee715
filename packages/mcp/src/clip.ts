/** Shortens text and bytes to what a result may contain. */
import { visibleText } from './visible-text.ts'

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000

const head = (text: string, length: number): string =>
  text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length)
const tail = (text: string, length: number): string => {
  const from = text.length - length
  return text.slice(isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from)
}

/** Returns at most `max` characters: the beginning and the end of a longer text, and how many are missing between. */
export function clipMiddle(text: string, max: number): string {
  if (text.length <= max) return text
  const mark = `\n[… ${text.length - max} characters or more left out …]\n`
  const room = Math.max(0, max - mark.length)
  const first = Math.floor(room / 3)
  return `${head(text, first)}${mark}${tail(text, room - first)}`.slice(0, max)
}

/** Returns at most `max` characters of the beginning. */
export function clipEnd(text: string, max: number): string {
  return text.length <= max ? text : head(text, max)
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Returns the length of the bytes without a last character that is incomplete. */
const wholeCharacters = (bytes: Uint8Array, length: number): number => {
  let at = length
  for (let back = 0; back < 3 && isContinuation(bytes[at - 1]); back += 1) at -= 1
  const lead = bytes[at - 1] ?? 0
  const size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1
  return at - 1 + size > length ? at - 1 : length
}

/**
 * Returns the beginning of the bytes as visible text of at most `max` characters, and the number of bytes in it. `isEnd`
 * says that no bytes follow, so an incomplete character is not left for the next call.
 */
export function fitBytes(bytes: Uint8Array, max: number, isEnd: boolean): { text: string; used: number } {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let length = isEnd ? bytes.length : wholeCharacters(bytes, bytes.length) || bytes.length
  for (;;) {
    const text = visibleText(decoder.decode(bytes.subarray(0, length)))
    if (text.length <= max || length <= 1) return { text: clipEnd(text, max), used: length }
    const shorter = Math.min(length - 1, Math.floor((length * max) / text.length))
    length = Math.max(1, wholeCharacters(bytes, shorter))
  }
}

/** Reads at most `max` bytes of a response from `skip` on, and then ends it. */
export async function readSome(
  response: Response,
  max: number,
  skip = 0,
): Promise<{ bytes: Uint8Array; isEnd: boolean }> {
  const chunks: Uint8Array[] = []
  let [left, toSkip] = [max, skip]
  const reader = response.body?.getReader()
  if (!reader) return { bytes: new Uint8Array(), isEnd: true }
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { bytes: joined(chunks), isEnd: true }
      const fresh = value.subarray(Math.min(toSkip, value.length))
      toSkip -= value.length - fresh.length
      chunks.push(fresh.subarray(0, left))
      if (fresh.length > left) return { bytes: joined(chunks), isEnd: false }
      left -= fresh.length
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

const joined = (chunks: readonly Uint8Array[]): Uint8Array => {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}
