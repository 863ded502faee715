/** Sign-in under /api/auth: limits and refusals of our own in front of the sign-in library. */
import { createHash } from 'node:crypto'
import { ServiceError } from '@dock/contract'
import type { Logger } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { RateLimits } from '../../../rate-limits/rate-limits.ts'
import { clientAddressHeader, createLibrary, type LibraryOptions } from './better-auth.ts'
import { claimAddress, type DropKeys } from './claim-address.ts'
import { type SignInDoor, signInDoor } from './sign-in-doors.ts'
import { askForSignIn } from './verify-address.ts'

export type SignInRequest = {
  method: string
  /** Path below /api/auth. */
  path: string
  /** With its question mark, or empty. */
  search: string
  headers: Headers
  /** Parsed JSON of a POST. */
  body: unknown
  clientAddress: string
}

export type SignIn = {
  /** Throws what is answered in the service's own envelope: unknown ways, limits, closed accounts. */
  handle(request: SignInRequest): Promise<Response>
  /** Resolves when nothing is done after an answer. */
  settled(): Promise<void>
}

export type SignInOptions = Omit<LibraryOptions, 'onPasswordReset'> & {
  db: Db
  rateLimits: RateLimits
  logger: Logger
  /** Ends a person's API keys and SSH keys. */
  dropKeys: DropKeys
}

const asRecord = (body: unknown): Record<string, unknown> =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}

/** An address is counted under its hash: counters outlive the request and are no place for names. */
const accountSubject = (email: string): string =>
  createHash('sha256').update(email.toLowerCase()).digest('base64url')

/** An absolute address, or a path that stays on whatever host it is put behind. */
const isCallback = (text: string): boolean => {
  if (!text.startsWith('/')) return URL.canParse(text)
  const origin = 'https://callback.invalid'
  return !/^\/[/\\]/.test(text) && URL.canParse(text, origin) && new URL(text, origin).origin === origin
}

/** The library fails inside over what it cannot read or store; which hosts a callback may name is its own to check. */
const checkSearch = (search: string): void => {
  const parameters = new URLSearchParams(search)
  if ([...parameters].flat().some((text) => text.includes('\0')))
    throw new ServiceError('validation_error', { message: 'The query holds the character NUL.' })
  const callback = parameters.get('callbackURL')
  if (callback && !isCallback(callback))
    throw new ServiceError('validation_error', { message: 'callbackURL: must be an address or a path' })
}

export function createSignIn(options: SignInOptions): SignIn {
  const { db, rateLimits, logger } = options
  const library = createLibrary({
    ...options,
    onPasswordReset: (userId) => claimAddress(db, options.dropKeys, userId),
  })
  const afterwards = new Set<Promise<void>>()

  const forward = (request: SignInRequest): Promise<Response> => {
    const headers = new Headers(request.headers)
    headers.set(clientAddressHeader, request.clientAddress)
    headers.delete('content-length')
    const body = request.method === 'POST' ? JSON.stringify(request.body) : null
    if (body !== null) headers.set('content-type', 'application/json')
    const url = `${options.apiUrl}/api/auth${request.path}${request.search}`
    return library.handler(new Request(url, { method: request.method, headers, body }))
  }

  const checkLimits = async (door: SignInDoor, request: SignInRequest): Promise<void> => {
    if (door.perAddress) await rateLimits.take(door.perAddress, request.clientAddress)
    if (!door.perAccount) return
    const { email } = asRecord(request.body)
    if (typeof email !== 'string') throw new ServiceError('validation_error', { message: 'email: required' })
    await rateLimits.take(door.perAccount, accountSubject(email))
  }

  const sessionOf = (headers: Headers) => library.api.getSession({ headers, query: { disableRefresh: true } })

  const checkPerson = async (door: SignInDoor, headers: Headers): Promise<void> => {
    const found = await sessionOf(headers)
    if (!found) return
    const person = await db
      .selectFrom('users')
      .select(['closed_at', 'erased_at', 'email_verified'])
      .where('id', '=', found.user.id)
      .executeTakeFirst()
    if (person?.erased_at) throw new ServiceError('account_closed', { status: 410 })
    if (person?.closed_at) throw new ServiceError('account_closed')
    if (door.verified && !person?.email_verified) throw new ServiceError('email_verification_required')
  }

  const doAfterwards = (request: SignInRequest): void => {
    const work = forward(request)
      .then((response) => {
        if (!response.ok) logger.warn({ path: request.path, status: response.status }, 'sign-in mail refused')
      })
      .catch((error: unknown) => logger.error({ err: error, path: request.path }, 'sign-in mail failed'))
      .finally(() => afterwards.delete(work))
    afterwards.add(work)
  }

  return {
    handle: async (request) => {
      const door = signInDoor(request.method, request.path)
      if (!door) throw new ServiceError('not_found')
      checkSearch(request.search)
      await checkLimits(door, request)
      if (door.signedIn) await checkPerson(door, request.headers)
      if (request.path === '/verify-email') {
        const session = await sessionOf(request.headers)
        const first = askForSignIn(request.search, session?.user.email, options.appUrl)
        if (first) return first
      }
      if (!door.blind)
        return forward({
          ...request,
          body: door.with ? { ...asRecord(request.body), ...door.with } : request.body,
        })
      doAfterwards(request)
      return Response.json({ status: true }, { headers: { 'cache-control': 'no-store' } })
    },
    settled: async () => {
      while (afterwards.size > 0) await Promise.all(afterwards)
    },
  }
}
