/**
 * The codes of a device sign-in. The machine keeps the device code, 256 random bits. A person reads the user code: eight
 * letters without vowels, so that no word appears (RFC 8628, section 6.1), worth 34 bits for ten minutes.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto'

const letters = 'BCDFGHJKLMNPQRSTVWXZ'
const half = 4

/** Generates a user code as people see it: `BCDF-GHJK`. */
export function newUserCode(): string {
  const word = (): string => Array.from({ length: half }, () => letters[randomInt(letters.length)]).join('')
  return `${word()}-${word()}`
}

/** Returns the user code that somebody typed, in the form of {@link newUserCode}, or undefined if it cannot be one. */
export function readUserCode(text: string): string | undefined {
  const typed = text.slice(0, 64).toUpperCase().replace(/[\s-]/g, '')
  const valid = typed.length === 2 * half && [...typed].every((letter) => letters.includes(letter))
  return valid ? `${typed.slice(0, half)}-${typed.slice(half)}` : undefined
}

/** Generates a device code. */
export function newDeviceCode(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the hash by which a code is stored and found, so that the time of a lookup says nothing about the codes. */
export function hashCode(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
