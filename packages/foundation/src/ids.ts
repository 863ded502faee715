/** Identifiers: uuids for resources, prefixed random strings where the contract requires them. */
import { randomBytes, randomUUID } from 'node:crypto'

const base32 = 'abcdefghijklmnopqrstuvwxyz234567'
const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Returns a random uuid (version 4, RFC 9562). */
export function newUuid(): string {
  return randomUUID()
}

/** Returns `length` random characters of the RFC 4648 base32 alphabet in lower case, 5 bits each. */
export function randomBase32(length: number): string {
  let text = ''
  for (const byte of randomBytes(length)) text += base32[byte & 31]
  return text
}

/** Encodes bytes as base62, most significant digit first. The width depends only on the number of bytes. */
export function toBase62(bytes: Uint8Array): string {
  const width = Math.ceil((bytes.length * 8) / Math.log2(62))
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`)
  let text = ''
  while (text.length < width) {
    text = base62[Number(value % 62n)] + text
    value /= 62n
  }
  return text
}

/** Returns a new operation id: `op_` and 20 random characters. */
export function newOperationId(): string {
  return `op_${randomBase32(20)}`
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Returns true if the text has the form of a uuid of any version. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}
