/** Which ways of the sign-in library are open, and what is asked at each. All others do not exist for callers. */
import type { RateLimitName } from '@dock/contract'

export type SignInDoor = {
  /** Counted for the client address: a guess, or work that costs. */
  perAddress?: RateLimitName
  /** Counted for the account that the body names. */
  perAccount?: RateLimitName
  /** For who is signed in, and so not for closed accounts. */
  signedIn?: true
  /** For a person whose address is verified: a way in that would outlive its owner's claim. */
  verified?: true
  /** Set in the body whatever the caller sends. */
  with?: Readonly<Record<string, unknown>>
  /** Answered at once and always alike; the work is done afterwards, so that neither body nor time tells anything. */
  blind?: true
}

const attempt = { perAddress: 'signInsPerAddress' } as const
const mail = {
  perAddress: 'passwordResetsPerAddress',
  perAccount: 'passwordResetsPerAccount',
  blind: true,
} as const

const doors: Record<string, SignInDoor> = {
  'POST /sign-up/email': { perAddress: 'signUpsPerAddress' },
  'POST /sign-in/email': { ...attempt, perAccount: 'signInsPerAccount' },
  'POST /sign-in/social': attempt,
  'GET /callback/:provider': {},
  'POST /sign-out': {},
  'GET /get-session': { signedIn: true },
  'GET /list-sessions': { signedIn: true },
  'POST /revoke-session': { signedIn: true },
  'POST /revoke-other-sessions': { signedIn: true },
  'POST /link-social': { ...attempt, signedIn: true, verified: true },
  // A password is changed because somebody else may know it.
  'POST /change-password': { ...attempt, signedIn: true, with: { revokeOtherSessions: true } },
  'POST /send-verification-email': mail,
  'GET /verify-email': {},
  'POST /request-password-reset': mail,
  'POST /reset-password': attempt,
  'GET /error': {},
}

/** The door of a request by its path below /api/auth, if there is one. */
export function signInDoor(method: string, path: string): SignInDoor | undefined {
  const pattern = `${method} ${path.replace(/^\/callback\/[a-z]+$/, '/callback/:provider')}`
  return Object.hasOwn(doors, pattern) ? doors[pattern] : undefined
}
