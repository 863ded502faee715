/**
 * The format of an API key: `dock_`, 32 random bytes in base62, and a checksum that detects a mistyped key without a
 * database lookup.
 */
import { createHash, randomBytes } from 'node:crypto'
import { toBase62 } from '@dock/foundation'

const scheme = 'dock_'
const randomLength = 43
const checksumLength = 6
const prefixLength = scheme.length + 8
const pattern = new RegExp(`^${scheme}[0-9A-Za-z]{${randomLength + checksumLength}}$`)

const checksumOf = (random: string): string =>
  toBase62(createHash('sha256').update(`${scheme}${random}`).digest().subarray(0, 4))

/** Returns the SHA-256 of a raw key. Only the hash is stored. */
export function hashApiKey(raw: string): Buffer {
  return createHash('sha256').update(raw).digest()
}

/** Returns the first characters of a raw key, which are stored in plain text so that users can recognize the key. */
export function prefixOfApiKey(raw: string): string {
  return raw.slice(0, prefixLength)
}

/** Generates a raw key. */
export function newRawApiKey(): string {
  const random = toBase62(randomBytes(32))
  return `${scheme}${random}${checksumOf(random)}`
}

/** Returns true if a text has the format of a key and a correct checksum. Other texts need no database lookup. */
export function isRawApiKey(text: string): boolean {
  if (!pattern.test(text)) return false
  const random = text.slice(scheme.length, scheme.length + randomLength)
  return text.slice(scheme.length + randomLength) === checksumOf(random)
}

/** Replaces every substring in the format of a key by `mask`. Does not verify the checksum. */
export function maskApiKeys(text: string, mask: string): string {
  return text.replace(new RegExp(`${scheme}[0-9A-Za-z]{${randomLength + checksumLength}}`, 'g'), mask)
}
