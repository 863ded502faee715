/** Sign-in under /api/auth by better-auth, on our own tables. */
import { newUuid } from '@dock/foundation'
import { betterAuth } from 'better-auth'
import type pg from 'pg'
import type { Mail } from '../../mail/outbox.ts'

export type SignIn = { handle(request: Request): Promise<Response> }

export type SignInOptions = {
  pool: pg.Pool
  apiUrl: string
  appUrl: string
  secret: string
  /** Whether anybody may make an account; otherwise people come by invitation. */
  openSignUp: boolean
  sendMail(mail: Mail): Promise<void>
}

/** Header in which the HTTP layer tells the peer's address; what callers send under it is dropped there. */
export const clientAddressHeader = 'x-dock-client-address'

const timestamps = { createdAt: 'created_at', updatedAt: 'updated_at' }

const tables = {
  user: { modelName: 'users', fields: { emailVerified: 'email_verified', ...timestamps } },
  session: {
    modelName: 'sessions',
    fields: {
      userId: 'user_id',
      expiresAt: 'expires_at',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
      ...timestamps,
    },
  },
  account: {
    modelName: 'login_accounts',
    fields: {
      userId: 'user_id',
      accountId: 'account_id',
      providerId: 'provider_id',
      accessToken: 'access_token',
      refreshToken: 'refresh_token',
      idToken: 'id_token',
      accessTokenExpiresAt: 'access_token_expires_at',
      refreshTokenExpiresAt: 'refresh_token_expires_at',
      ...timestamps,
    },
  },
  verification: { modelName: 'verifications', fields: { expiresAt: 'expires_at', ...timestamps } },
}

export const createSignIn = (options: SignInOptions): SignIn => {
  const auth = betterAuth({
    appName: 'Dock',
    baseURL: options.apiUrl,
    basePath: '/api/auth',
    secret: options.secret,
    database: options.pool,
    trustedOrigins: [new URL(options.apiUrl).origin, new URL(options.appUrl).origin],
    telemetry: { enabled: false },
    logger: { disabled: true },
    rateLimit: { enabled: true, storage: 'memory' },
    advanced: {
      cookiePrefix: 'dock',
      useSecureCookies: options.apiUrl.startsWith('https:'),
      database: { generateId: () => newUuid() },
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
    },
    emailAndPassword: {
      enabled: true,
      disableSignUp: !options.openSignUp,
      revokeSessionsOnPasswordReset: true,
      sendResetPassword: ({ user, url }) =>
        options.sendMail({
          recipient: user.email,
          subject: 'Set a new password for Dock',
          body: `Open this link to set a new password:\n\n${url}\n\nIf you did not ask for it, do nothing.\n`,
        }),
    },
    emailVerification: {
      sendOnSignUp: true,
      sendVerificationEmail: ({ user, url }) =>
        options.sendMail({
          recipient: user.email,
          subject: 'Confirm your address for Dock',
          body: `Open this link to confirm that this address is yours:\n\n${url}\n`,
        }),
    },
    user: tables.user,
    session: tables.session,
    verification: tables.verification,
    // No provider is trusted to vouch for an address: linking to an account always needs the account itself.
    account: { ...tables.account, accountLinking: { trustedProviders: [] } },
  })
  return { handle: (request) => auth.handler(request) }
}
