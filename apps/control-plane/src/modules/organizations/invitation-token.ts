import { createHash, randomBytes } from 'node:crypto'

/** A token for a mailed link: 256 random bits. */
export function newInvitationToken(): string {
  return randomBytes(32).toString('base64url')
}

/** The only form in which a token is kept. */
export function hashInvitationToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
