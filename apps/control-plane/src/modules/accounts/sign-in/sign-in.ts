/** Handles /api/auth: applies Dock's rate limits and checks, then forwards the request to better-auth. */
import { createHash } from 'node:crypto'
import { ServiceError } from '@dock/contract'
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { RateLimits } from '../../../rate-limits/rate-limits.ts'
import { recordFailedSignIn } from '../../audit/index.ts'
import type { createLibrary, LibraryOptions } from './better-auth.ts'
import { claimAddress, type DropKeys } from './claim-address.ts'
import { clientAddressHeader } from './client-address-header.ts'
import { createPasswordAttempts, type PasswordAttempt } from './password-attempts.ts'
import { findSignInEndpoint, type SignInEndpoint } from './sign-in-endpoints.ts'
import { createSignInRecords } from './sign-in-records.ts'
import { refuseSignUp } from './sign-up-policy.ts'
import { askForSignIn } from './verify-address.ts'

export type SignInRequest = {
  method: string
  /** Path below /api/auth. */
  path: string
  /** Query string including its question mark, or empty. */
  search: string
  headers: Headers
  /** Parsed JSON body of a POST. */
  body: unknown
  clientAddress: string
}

export type SignIn = {
  /** Throws a ServiceError for unknown endpoints, exceeded rate limits, invalid queries and closed accounts. */
  handle(request: SignInRequest): Promise<Response>
  /** Resolves when no background work of a finished request is left. */
  settled(): Promise<void>
}

export type SignInOptions = Omit<LibraryOptions, 'onPasswordReset' | 'records'> & {
  db: Db
  clock: Clock
  rateLimits: RateLimits
  logger: Logger
  /** Records that somebody made an account with the link of an invitation. */
  recordSignUp(email: string, token: string): Promise<void>
  /** Revokes a user's API keys and deletes their SSH keys. */
  dropKeys: DropKeys
}

const asRecord = (body: unknown): Record<string, unknown> =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}

/** Hashes the address, so that rate-limit counters, which outlive the request, hold no personal data. */
const accountSubject = (email: string): string =>
  createHash('sha256').update(email.toLowerCase()).digest('base64url')

/** True for an absolute URL, and for a path that cannot resolve to another host. */
const isCallback = (text: string): boolean => {
  if (!text.startsWith('/')) return URL.canParse(text)
  const origin = 'https://callback.invalid'
  if (!URL.canParse(text, origin)) return false
  const url = new URL(text, origin)
  // `/.//host` has the pathname `//host`, which is another host once somebody writes it alone.
  return url.origin === origin && !url.pathname.startsWith('//')
}

/**
 * Refuses queries on which better-auth would fail with an internal error. better-auth itself checks which hosts a
 * callback may name.
 */
const checkSearch = (search: string): void => {
  const parameters = new URLSearchParams(search)
  if ([...parameters].flat().some((text) => text.includes('\0')))
    throw new ServiceError('validation_error', { message: 'The query contains a NUL character.' })
  const callback = parameters.get('callbackURL')
  if (callback && !isCallback(callback))
    throw new ServiceError('validation_error', { message: 'callbackURL: must be a URL or a path' })
}

/** Creates the handler of /api/auth. */
export function createSignIn(options: SignInOptions): SignIn {
  const { db, clock, rateLimits, logger } = options
  const records = createSignInRecords({ db, clock })
  let made: ReturnType<typeof createLibrary> | undefined
  // A server that people use with API keys and sessions alone never needs the library.
  const load = async () => {
    const module = await import('./better-auth.ts')
    made ??= module.createLibrary({
      ...options,
      records,
      onPasswordReset: async (userId, address) => {
        const isClaimed = await claimAddress(db, options.dropKeys, userId)
        await records.passwordReset(userId, address, isClaimed)
      },
    })
    return made
  }
  const passwordAttempts = createPasswordAttempts(rateLimits, {
    secret: options.secret,
    secure: options.apiUrl.startsWith('https:'),
  })
  const backgroundWork = new Set<Promise<void>>()

  const forward = async (request: SignInRequest): Promise<Response> => {
    const headers = new Headers(request.headers)
    headers.set(clientAddressHeader, request.clientAddress)
    headers.delete('content-length')
    const body = request.method === 'POST' ? JSON.stringify(request.body) : null
    if (body !== null) headers.set('content-type', 'application/json')
    const url = `${options.apiUrl}/api/auth${request.path}${request.search}`
    const library = await load()
    return library.handler(new Request(url, { method: request.method, headers, body }))
  }

  /** Returns the attempt at a password, if the request is one. */
  const checkLimits = async (
    endpoint: SignInEndpoint,
    request: SignInRequest,
  ): Promise<PasswordAttempt | undefined> => {
    if (endpoint.perAddress) await rateLimits.take(endpoint.perAddress, request.clientAddress)
    if (!endpoint.perAccount && !endpoint.checksPassword) return undefined
    const { email } = asRecord(request.body)
    if (typeof email !== 'string') throw new ServiceError('validation_error', { message: 'email: required' })
    const account = accountSubject(email)
    if (endpoint.perAccount) await rateLimits.take(endpoint.perAccount, account)
    return endpoint.checksPassword
      ? passwordAttempts.begin(account, request.headers.get('cookie'), request.clientAddress)
      : undefined
  }

  const sessionOf = async (headers: Headers) => {
    const library = await load()
    return library.api.getSession({ headers, query: { disableRefresh: true } })
  }

  const checkPerson = async (endpoint: SignInEndpoint, headers: Headers): Promise<void> => {
    const found = await sessionOf(headers)
    if (!found) return
    const person = await db
      .selectFrom('users')
      .select(['closed_at', 'erased_at', 'email_verified'])
      .where('id', '=', found.user.id)
      .executeTakeFirst()
    if (person?.erased_at) throw new ServiceError('account_closed', { status: 410 })
    if (person?.closed_at) throw new ServiceError('account_closed')
    if (endpoint.verified && !person?.email_verified) throw new ServiceError('email_verification_required')
  }

  /** Returns the response that refuses a sign-up by password, or undefined if the policy allows it. */
  const refuseByPolicy = async (body: unknown): Promise<Response | undefined> => {
    const { email, invitationToken } = asRecord(body)
    // better-auth refuses such a body without looking anything up.
    if (typeof email !== 'string') return undefined
    const token = typeof invitationToken === 'string' ? invitationToken : null
    const account = { email, invitationToken: token, provider: null }
    const refusal = await refuseSignUp(options.signUp, options.isInvited, account)
    if (!refusal) return undefined
    const { error: code, errorDescription: message } = refusal
    return Response.json({ code, message }, { status: 403, headers: { 'cache-control': 'no-store' } })
  }

  /** Instance admins see with which invitation a person came, before they vouch for the address. */
  const recordLink = async (body: unknown): Promise<void> => {
    const { email, invitationToken } = asRecord(body)
    if (typeof email !== 'string' || typeof invitationToken !== 'string') return
    await options.recordSignUp(email, invitationToken)
  }

  const inBackground = (work: Promise<void>): void => {
    const settled = work.finally(() => backgroundWork.delete(settled))
    backgroundWork.add(settled)
  }

  const forwardInBackground = (request: SignInRequest): void =>
    inBackground(
      forward(request)
        .then((response) => {
          if (!response.ok)
            logger.warn(
              { path: request.path, status: response.status },
              'sign-in library refused to send the mail',
            )
        })
        .catch((error: unknown) =>
          logger.error({ err: error, path: request.path }, 'could not send the sign-in mail'),
        ),
    )

  /** In the background, because the time of the response must not tell that there is such an account. */
  const recordFailure = ({ body, clientAddress }: SignInRequest): void => {
    const { email } = asRecord(body)
    if (typeof email !== 'string') return
    inBackground(
      recordFailedSignIn(db, { email, address: clientAddress, now: clock.now() }).catch((error: unknown) =>
        logger.error({ err: error }, 'could not record a failed sign-in'),
      ),
    )
  }

  return {
    handle: async (request) => {
      const endpoint = findSignInEndpoint(request.method, request.path)
      if (!endpoint) throw new ServiceError('not_found')
      checkSearch(request.search)
      const attempt = await checkLimits(endpoint, request)
      if (endpoint.signedIn) await checkPerson(endpoint, request.headers)
      const refused = endpoint.signUpPolicy && (await refuseByPolicy(request.body))
      if (refused) return refused
      if (request.path === '/verify-email') {
        const session = await sessionOf(request.headers)
        const first = askForSignIn(request.search, session?.user.email, options.appUrl)
        if (first) return first
      }
      if (!endpoint.uniformResponse) {
        const { bodyOverrides } = endpoint
        const response = await forward({
          ...request,
          body: bodyOverrides ? { ...asRecord(request.body), ...bodyOverrides } : request.body,
        })
        if (endpoint.signUpPolicy && response.ok) await recordLink(request.body)
        if (attempt && response.status === 401) recordFailure(request)
        if (attempt && response.ok) response.headers.append('set-cookie', await attempt.succeeded())
        return response
      }
      forwardInBackground(request)
      return Response.json({ status: true }, { headers: { 'cache-control': 'no-store' } })
    },
    settled: async () => {
      while (backgroundWork.size > 0) await Promise.all(backgroundWork)
    },
  }
}
