import { createHash, randomBytes } from 'node:crypto'

/** A token for a mailed link: 256 random bits. */
export const newInvitationToken = (): string => randomBytes(32).toString('base64url')

/** The only form in which a token is kept. */
export const hashInvitationToken = (token: string): Buffer => createHash('sha256').update(token).digest()
