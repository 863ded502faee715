/** Configures better-auth with Dock's tables, mails and sign-up policy. Loaded by the first sign-in, with the library. */
import { appPaths, avatarUrl, isPlainText, limits } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { betterAuth } from 'better-auth'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import type pg from 'pg'
import type { Mail } from '../../../mail/index.ts'
import { clientAddressHeader } from './client-address-header.ts'
import { grantHooks, type KeepGrant } from './provider-grants.ts'
import { cookiePrefix } from './session-cookie.ts'
import type { SignInRecords } from './sign-in-records.ts'
import { signInTables } from './sign-in-tables.ts'
import { type IsInvited, refuseSignUp, type SignUpPolicy } from './sign-up-policy.ts'
import { type SocialLogins, socialProviders } from './social-providers.ts'
import { trustedOriginsOf } from './trusted-origins.ts'

export type LibraryOptions = {
  connections: pg.Pool
  apiUrl: string
  appUrl: string
  secret: string
  signUp: SignUpPolicy
  social: SocialLogins
  isInvited: IsInvited
  /** Called after a user has set a password through a mailed link. */
  onPasswordReset(userId: string, address: string | undefined): Promise<void>
  records: SignInRecords
  sendMail(mail: Mail): Promise<void>
  /** Called after a login was created or updated. */
  keepGrant: KeepGrant
}

const { max: nameLengthMax } = limits.displayNameLength

/** Removes characters that a display name may not contain. Returns an empty string if none are left. */
const toDisplayName = (text: string): string =>
  [...text]
    .filter((character) => isPlainText(character))
    .join('')
    .trim()
    .slice(0, nameLengthMax)

const readStringField = (body: unknown, field: string): string | null => {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, field) : null
  return typeof value === 'string' ? value : null
}

/** Creates the configured better-auth instance. */
export function createLibrary(options: LibraryOptions) {
  const secure = options.apiUrl.startsWith('https:')
  // The page shows invitations to the address, which wait for its confirmation.
  const callbackURL = options.appUrl + appPaths.organizations()
  const { records } = options
  const grants = grantHooks(options.keepGrant)
  return betterAuth({
    appName: 'Dock',
    baseURL: options.apiUrl,
    basePath: '/api/auth',
    secret: options.secret,
    database: options.connections,
    trustedOrigins: [...trustedOriginsOf(options.apiUrl), ...trustedOriginsOf(options.appUrl)],
    telemetry: { enabled: false },
    logger: { disabled: true },
    // Dock applies its own rate limits, which all processes share.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: cookiePrefix(secure),
      // Otherwise better-auth puts its own prefix before ours.
      useSecureCookies: false,
      // Otherwise better-auth checks no origins and no callbacks if the environment has TEST=1 or NODE_ENV=test.
      disableOriginCheck: false,
      defaultCookieAttributes: { secure, httpOnly: true, sameSite: 'lax', path: '/' },
      database: { generateId: () => newUuid() },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
    },
    plugins: [genericOAuth({ config: socialProviders(options.social) })],
    databaseHooks: {
      user: {
        create: {
          before: async (user) => {
            const name = toDisplayName(user.name) || user.email.split('@')[0]!.slice(0, nameLengthMax)
            // better-auth stores any text as the image. Keep only a URL that the profile accepts.
            const image = avatarUrl.safeParse(user.image).data ?? null
            return { data: { ...user, name, image } }
          },
        },
      },
      account: {
        create: {
          before: grants.before,
          after: async (login, context) => {
            await grants.after(login, context)
            await records.loginAdded(login, context)
          },
        },
        update: grants,
      },
      session: { create: { after: records.sessionCreated }, delete: { after: records.sessionDeleted } },
    },
    emailAndPassword: {
      enabled: true,
      minPasswordLength: limits.passwordLength.min,
      maxPasswordLength: limits.passwordLength.max,
      revokeSessionsOnPasswordReset: true,
      onPasswordReset: ({ user }, request) =>
        options.onPasswordReset(user.id, request?.headers.get(clientAddressHeader) ?? undefined),
      sendResetPassword: ({ user, token }) =>
        options.sendMail({
          recipient: user.email,
          title: 'Set a new password',
          body: 'The link works for one hour. If you did not request it, ignore this mail.',
          link: { label: 'Set a new password', to: options.appUrl + appPaths.resetPassword(token) },
        }),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendVerificationEmail: ({ user, token }) =>
        options.sendMail({
          recipient: user.email,
          title: 'Confirm your address',
          body: `Open the link to confirm that ${user.email} is yours. If you did not create an account, ignore this mail.`,
          link: {
            label: 'Confirm the address',
            to: `${options.apiUrl}/api/auth/verify-email?${new URLSearchParams({ token, callbackURL })}`,
          },
        }),
    },
    user: {
      ...signInTables.user,
      validateUserInfo: async ({ user, source }, context) => {
        if (source.action !== 'create-user') return
        const provider = source.method === 'oauth' ? { emailVerified: user.emailVerified === true } : null
        const invitationToken = readStringField(context.body, 'invitationToken')
        const account = { email: user.email ?? '', invitationToken, provider }
        return refuseSignUp(options.signUp, options.isInvited, account)
      },
    },
    session: signInTables.session,
    // Store only hashes of the reset tokens.
    verification: { ...signInTables.verification, storeIdentifier: 'hashed' },
    account: {
      ...signInTables.account,
      // Never match a provider's login to an existing account by address. A signed-in user links it explicitly instead,
      // and its address may differ from the account's.
      accountLinking: { trustedProviders: [], disableImplicitLinking: true, allowDifferentEmails: true },
    },
  })
}
