/** Authenticates callers: by API key, or by session cookie if the request has no Authorization header. */
import { type Access, admitsUnverified, ServiceError } from '@dock/contract'
import type { AuthenticateSession, Caller, SignedIn } from '../modules/accounts/index.ts'
import type { AuthenticateApiKey } from '../modules/keys/index.ts'

export type Credentials = {
  /** Returns the caller if the route's access rules allow the request. Throws ServiceError otherwise. */
  check(request: Request, access: Access, params: Record<string, string>): Promise<Caller>
}

export type CredentialOptions = {
  authenticateApiKey: AuthenticateApiKey
  authenticateSession: AuthenticateSession
  cookieName: string
  /** Origins whose pages may send writes with a session cookie. */
  origins: readonly string[]
  /** Email addresses of instance admins, in lower case. */
  adminEmails: readonly string[]
}

const bearer = /^Bearer +([^\s]+) *$/i
const readMethods = new Set(['GET', 'HEAD'])

const readCookie = (header: string | null, name: string): string | undefined => {
  for (const part of header?.split(';') ?? []) {
    const at = part.indexOf('=')
    if (part.slice(0, at).trim() !== name) continue
    try {
      return decodeURIComponent(part.slice(at + 1).trim())
    } catch {
      return undefined
    }
  }
  return undefined
}

/**
 * CSRF check. Browsers send `Sec-Fetch-Site` or `Origin` with every write, and a page of another site cannot forge
 * them. A request with neither does not come from a browser.
 */
const isFromOwnSite = (request: Request, origins: readonly string[]): boolean => {
  const site = request.headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = request.headers.get('origin')
  if (origin === null) return true
  const host = request.headers.get('host')
  return origins.includes(origin) || (URL.canParse(origin) && new URL(origin).host === host)
}

export function createCredentials(options: CredentialOptions): Credentials {
  const signedIn = async (request: Request): Promise<SignedIn | undefined> => {
    const authorization = request.headers.get('authorization')
    if (authorization !== null) {
      const raw = bearer.exec(authorization)?.[1]
      return raw === undefined ? undefined : options.authenticateApiKey(raw)
    }
    const cookie = readCookie(request.headers.get('cookie'), options.cookieName)
    if (cookie === undefined) return undefined
    const session = await options.authenticateSession(cookie)
    if (session && !readMethods.has(request.method) && !isFromOwnSite(request, options.origins)) {
      throw new ServiceError('forbidden', {
        message: 'Requests with a session cookie may only write from this site. Use an API key instead.',
      })
    }
    return session
  }

  return {
    check: async (request, access, params) => {
      const found = await signedIn(request)
      if (!found) throw new ServiceError('unauthorized')
      const instanceAdmin = found.instanceAdmin || options.adminEmails.includes(found.email.toLowerCase())
      checkAccess(found, { access, method: request.method }, params, instanceAdmin)
      return {
        kind: found.kind,
        userId: found.userId,
        email: found.email,
        emailVerified: found.emailVerified,
        credentialId: found.credentialId,
        instanceAdmin,
        ...(found.dockId === null ? {} : { dockId: found.dockId }),
      }
    },
  }
}

const checkAccess = (
  found: SignedIn,
  { access, method }: { access: Access; method: string },
  params: Record<string, string>,
  instanceAdmin: boolean,
): void => {
  if (found.erasedAt) throw new ServiceError('account_closed', { status: 410 })
  if (found.closedAt && !('closedAccount' in access)) throw new ServiceError('account_closed')
  if (found.kind === 'dock_key' && !('dockKey' in access && params.id?.toLowerCase() === found.dockId)) {
    throw new ServiceError('dock_key_forbidden')
  }
  const sessionOnly = access.credentials === 'session' || access.credentials === 'instance-admin-session'
  if (sessionOnly && found.kind !== 'session') throw new ServiceError('session_required')
  // The rights of an instance admin come first, so that others learn that they lack them.
  if (access.credentials === 'instance-admin' || access.credentials === 'instance-admin-session') {
    if (!instanceAdmin) throw new ServiceError('instance_admin_required')
    if (!found.emailVerified) throw new ServiceError('email_verification_required')
  }
  if (!found.emailVerified && !admitsUnverified(access, method))
    throw new ServiceError('email_verification_required')
}
