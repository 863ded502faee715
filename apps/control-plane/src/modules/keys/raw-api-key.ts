/** The form of an API key: `dock_`, 32 random bytes in base62, and a checksum that tells a typing error offline. */
import { createHash, randomBytes } from 'node:crypto'
import { toBase62 } from '@dock/foundation'

const scheme = 'dock_'
const randomLength = 43
const checksumLength = 6
const prefixLength = scheme.length + 8
const pattern = new RegExp(`^${scheme}[0-9A-Za-z]{${randomLength + checksumLength}}$`)

const checksumOf = (random: string): string =>
  toBase62(createHash('sha256').update(`${scheme}${random}`).digest().subarray(0, 4))

/** SHA-256 of a raw key: the only form in which it is kept. */
export function hashApiKey(raw: string): Buffer {
  return createHash('sha256').update(raw).digest()
}

/** The first characters of a raw key, which are kept readable to find and recognise it. */
export function prefixOfApiKey(raw: string): string {
  return raw.slice(0, prefixLength)
}

/** A new raw key. */
export function newRawApiKey(): string {
  const random = toBase62(randomBytes(32))
  return `${scheme}${random}${checksumOf(random)}`
}

/** Whether a text has the form of a key with a right checksum, so that nonsense never reaches the database. */
export function isRawApiKey(text: string): boolean {
  if (!pattern.test(text)) return false
  const random = text.slice(scheme.length, scheme.length + randomLength)
  return text.slice(scheme.length + randomLength) === checksumOf(random)
}

/** A text with something else in place of all that has the form of a key. */
export function maskApiKeys(text: string, mask: string): string {
  return text.replace(new RegExp(`${scheme}[0-9A-Za-z]{${randomLength + checksumLength}}`, 'g'), mask)
}
