import { createHash, randomBytes } from 'node:crypto'

/** Generates the token of a mailed link: 256 random bits in base64url. */
export function newInvitationToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the SHA-256 of a token. Only the hash is stored. */
export function hashInvitationToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
