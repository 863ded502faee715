/**
 * The mailed link that verifies an address works only in a session of the account that it verifies. Otherwise an
 * attacker could sign up with somebody else's address, the owner's click would verify it, and the attacker would keep
 * the password.
 */
import { appPaths } from '@dock/contract'

/**
 * Returns the address in the token of a mailed link. Does not check the signature: better-auth does that afterwards.
 */
const readAddress = (token: string | null): string | undefined => {
  const payload = token?.split('.')[1]
  if (payload === undefined) return undefined
  try {
    const { email } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { email?: unknown }
    return typeof email === 'string' ? email.toLowerCase() : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns undefined if the session belongs to the address in the link. Otherwise returns the response that asks the
 * visitor to sign in first: a redirect for a browser that followed the mailed link, a 401 for other clients.
 */
export function askForSignIn(
  search: string,
  sessionEmail: string | undefined,
  appUrl: string,
): Response | undefined {
  const query = new URLSearchParams(search)
  const email = readAddress(query.get('token'))
  // A token without an address is invalid. better-auth refuses it.
  if (email === undefined || email === sessionEmail?.toLowerCase()) return undefined
  const headers = { 'cache-control': 'no-store' }
  if (query.has('callbackURL')) {
    const location = appUrl + appPaths.signIn(`/api/auth/verify-email${search}`)
    return new Response(null, { status: 302, headers: { ...headers, location } })
  }
  const message = 'Sign in with this address first, then open the link again.'
  return Response.json({ code: 'SIGN_IN_FIRST', message }, { status: 401, headers })
}
