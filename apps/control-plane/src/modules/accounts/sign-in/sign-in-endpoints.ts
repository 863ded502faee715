/** The endpoints of better-auth that Dock exposes, with the checks for each. All others respond with 404. */
import type { RateLimitName } from '@dock/contract'

export type SignInEndpoint = {
  /** Rate limit per client IP address. Set where a request can guess a secret or is expensive. */
  perAddress?: RateLimitName
  /** Rate limit per account, identified by `email` in the body. */
  perAccount?: RateLimitName
  /** Counts failures per account, so that strangers cannot keep the account's owner out. */
  checksPassword?: true
  /** Refuses sessions of closed and erased accounts. */
  signedIn?: true
  /**
   * Also refuses sessions whose address is not verified. A login added to such an account would keep working after the
   * owner of the address claims it.
   */
  verified?: true
  /**
   * Applies the sign-up policy before better-auth does. better-auth first looks the address up, and responds differently
   * if it has an account.
   */
  signUpPolicy?: true
  /** Fields that replace those of the caller's body. */
  bodyOverrides?: Readonly<Record<string, unknown>>
  /**
   * Responds at once with the same body for every account and does the work afterwards, so that neither the body nor
   * the duration reveals whether an account exists.
   */
  uniformResponse?: true
}

const attempt = { perAddress: 'signInsPerAddress' } as const
const mail = {
  perAddress: 'passwordResetsPerAddress',
  perAccount: 'passwordResetsPerAccount',
  uniformResponse: true,
} as const

const endpoints: Record<string, SignInEndpoint> = {
  'POST /sign-up/email': { perAddress: 'signUpsPerAddress', signUpPolicy: true },
  'POST /sign-in/email': { ...attempt, checksPassword: true },
  'POST /sign-in/social': attempt,
  'GET /callback/:provider': {},
  'POST /sign-out': {},
  'GET /get-session': { signedIn: true },
  'GET /list-sessions': { signedIn: true },
  'POST /revoke-session': { signedIn: true },
  'POST /revoke-other-sessions': { signedIn: true },
  'POST /link-social': { ...attempt, signedIn: true, verified: true },
  // Users change a password when somebody else may know it, so all other sessions end.
  'POST /change-password': { ...attempt, signedIn: true, bodyOverrides: { revokeOtherSessions: true } },
  'POST /send-verification-email': mail,
  'GET /verify-email': {},
  'POST /request-password-reset': mail,
  'POST /reset-password': attempt,
  'GET /error': {},
}

/** Returns the endpoint for a path below /api/auth, or undefined if Dock does not expose it. */
export function findSignInEndpoint(method: string, path: string): SignInEndpoint | undefined {
  const pattern = `${method} ${path.replace(/^\/callback\/[a-z]+$/, '/callback/:provider')}`
  return Object.hasOwn(endpoints, pattern) ? endpoints[pattern] : undefined
}
