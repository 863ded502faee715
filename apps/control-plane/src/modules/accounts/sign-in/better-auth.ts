/** The sign-in library as this instance uses it: our tables, our mails, our rules of who may join. */
import { newUuid } from '@dock/foundation'
import { betterAuth } from 'better-auth'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import type pg from 'pg'
import type { Mail } from '../../../mail/outbox.ts'
import { grantHooks, type KeepGrant } from './provider-grants.ts'
import { cookiePrefix } from './session-cookie.ts'
import { signInTables } from './sign-in-tables.ts'
import { refuseSignUp, type SignUpPolicy } from './sign-up-policy.ts'
import { type SocialLogins, socialProviders } from './social-providers.ts'

export type LibraryOptions = {
  pool: pg.Pool
  apiUrl: string
  appUrl: string
  secret: string
  signUp: SignUpPolicy
  social: SocialLogins
  /** Whether an invitation to this address is open. */
  isInvited(email: string): Promise<boolean>
  sendMail(mail: Mail): Promise<void>
  /** Called when a login was made or renewed. */
  keepGrant: KeepGrant
}

const nameLengthMax = 60

/** Header in which the peer's address reaches the library; what callers send under it is dropped. */
export const clientAddressHeader = 'x-dock-client-address'

export const createLibrary = (options: LibraryOptions) => {
  const secure = options.apiUrl.startsWith('https:')
  const link = (base: string, path: string, query: Record<string, string>): string =>
    `${base}${path}?${new URLSearchParams(query)}`
  const grants = grantHooks(options.keepGrant)
  return betterAuth({
    appName: 'Dock',
    baseURL: options.apiUrl,
    basePath: '/api/auth',
    secret: options.secret,
    database: options.pool,
    trustedOrigins: [new URL(options.apiUrl).origin, new URL(options.appUrl).origin],
    telemetry: { enabled: false },
    logger: { disabled: true },
    // Counted by our own limits, which hold for all processes together.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: cookiePrefix(secure),
      // The library would put a prefix of its own before ours.
      useSecureCookies: false,
      defaultCookieAttributes: { secure, httpOnly: true, sameSite: 'lax', path: '/' },
      database: { generateId: () => newUuid() },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
    },
    plugins: [genericOAuth({ config: socialProviders(options.social) })],
    databaseHooks: {
      user: {
        create: {
          before: async (user) => {
            const name = user.name.trim().slice(0, nameLengthMax)
            return { data: { ...user, name: name || user.email.split('@')[0]!.slice(0, nameLengthMax) } }
          },
        },
      },
      account: {
        create: grants,
        update: grants,
      },
    },
    emailAndPassword: {
      enabled: true,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, token }) =>
        options.sendMail({
          recipient: user.email,
          subject: 'Set a new password for Dock',
          body: `Open this link to set a new password:\n\n${link(options.appUrl, '/reset-password', { token })}\n\nIt works for an hour. If you did not ask for it, do nothing.\n`,
        }),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendVerificationEmail: ({ user, token }) =>
        options.sendMail({
          recipient: user.email,
          subject: 'Confirm your address for Dock',
          body: `Open this link to confirm that this address is yours:\n\n${link(options.apiUrl, '/api/auth/verify-email', { token, callbackURL: `${options.appUrl}/` })}\n\nIf you did not make an account, do nothing.\n`,
        }),
    },
    user: {
      ...signInTables.user,
      validateUserInfo: async ({ user, source }) => {
        if (source.action !== 'create-user') return
        const provider = source.method === 'oauth' ? { emailVerified: user.emailVerified === true } : null
        return refuseSignUp(options.signUp, options.isInvited, { email: user.email ?? '', provider })
      },
    },
    session: signInTables.session,
    // Tokens of resets are found by their hash.
    verification: { ...signInTables.verification, storeIdentifier: 'hashed' },
    account: {
      ...signInTables.account,
      // A provider that vouches for an address opens no account: who is signed in links it, whatever its address.
      accountLinking: { trustedProviders: [], disableImplicitLinking: true, allowDifferentEmails: true },
    },
  })
}
