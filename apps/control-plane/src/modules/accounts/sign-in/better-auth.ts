/** The sign-in library as this instance uses it: our tables, our mails, our rules of who may join. */
import { avatarUrl, isPlainText, limits } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { betterAuth } from 'better-auth'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import type pg from 'pg'
import type { Mail } from '../../../mail/outbox.ts'
import { grantHooks, type KeepGrant } from './provider-grants.ts'
import { cookiePrefix } from './session-cookie.ts'
import { signInTables } from './sign-in-tables.ts'
import { type IsInvited, refuseSignUp, type SignUpPolicy } from './sign-up-policy.ts'
import { type SocialLogins, socialProviders } from './social-providers.ts'

export type LibraryOptions = {
  pool: pg.Pool
  apiUrl: string
  appUrl: string
  secret: string
  signUp: SignUpPolicy
  social: SocialLogins
  isInvited: IsInvited
  /** The person has set a password through a mailed link. */
  onPasswordReset(userId: string): Promise<void>
  sendMail(mail: Mail): Promise<void>
  /** Called when a login was made or renewed. */
  keepGrant: KeepGrant
}

const { max: nameLengthMax } = limits.displayNameLength

/** A name that a provider or a form gave, as one line; empty if nothing of it can be shown. */
const shownName = (text: string): string =>
  [...text]
    .filter((character) => isPlainText(character))
    .join('')
    .trim()
    .slice(0, nameLengthMax)

const textIn = (body: unknown, field: string): string | null => {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, field) : null
  return typeof value === 'string' ? value : null
}

/** Header in which the peer's address reaches the library; what callers send under it is dropped. */
export const clientAddressHeader = 'x-dock-client-address'

export function createLibrary(options: LibraryOptions) {
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
            const name = shownName(user.name) || user.email.split('@')[0]!.slice(0, nameLengthMax)
            // Only what a profile takes; the form of sign-up would store any text.
            const image = avatarUrl.safeParse(user.image).data ?? null
            return { data: { ...user, name, image } }
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
      onPasswordReset: ({ user }) => options.onPasswordReset(user.id),
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
      validateUserInfo: async ({ user, source }, context) => {
        if (source.action !== 'create-user') return
        const provider = source.method === 'oauth' ? { emailVerified: user.emailVerified === true } : null
        const invitationToken = textIn(context.body, 'invitationToken')
        const account = { email: user.email ?? '', invitationToken, provider }
        return refuseSignUp(options.signUp, options.isInvited, account)
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
