/**
 * The mailed link that verifies an address works only in a session of that account. Without it, whoever took an address
 * would be verified by a click of its owner, and keep their password.
 */

/** The address in the token of a mailed link. It is not trusted: the sign-in library checks the signature afterwards. */
const addressIn = (token: string | null): string | undefined => {
  const payload = token?.split('.')[1]
  if (payload === undefined) return undefined
  try {
    const { email } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { email?: unknown }
    return typeof email === 'string' ? email.toLowerCase() : undefined
  } catch {
    return undefined
  }
}

/** The response that asks for sign-in first: a page for a browser that followed the link. Undefined if none is needed. */
export function askForSignIn(
  search: string,
  sessionEmail: string | undefined,
  appUrl: string,
): Response | undefined {
  const query = new URLSearchParams(search)
  const email = addressIn(query.get('token'))
  // Without an address the token is broken, and the library says so.
  if (email === undefined || email === sessionEmail?.toLowerCase()) return undefined
  const headers = { 'cache-control': 'no-store' }
  if (query.has('callbackURL')) {
    const next = new URLSearchParams({ next: `/api/auth/verify-email${search}` })
    return new Response(null, { status: 302, headers: { ...headers, location: `${appUrl}/sign-in?${next}` } })
  }
  const message = 'Sign in to the account of this address first, then open the link again.'
  return Response.json({ code: 'SIGN_IN_FIRST', message }, { status: 401, headers })
}
