/** Names and verifies the signed session cookie of better-auth without calling the library. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const separator = '.'

/**
 * Returns the prefix of cookie names. Over https it starts with `__Host-`, which makes browsers require a secure
 * connection, the path `/` and no Domain attribute (RFC 6265bis).
 */
export function cookiePrefix(secure: boolean): string {
  return `${secure ? '__Host-' : ''}dock`
}

export function sessionCookieName(secure: boolean): string {
  return `${cookiePrefix(secure)}.session_token`
}

/** Name of the cookie of a browser in which an account has signed in before. */
export function deviceCookieName(secure: boolean): string {
  return `${cookiePrefix(secure)}.device`
}

/** Returns true if Dock sets cookies with this name, over http or https. */
export function isPlatformCookie(name: string): boolean {
  return [false, true].some((secure) => name.startsWith(`${cookiePrefix(secure)}.`))
}

/**
 * Returns the session token from a cookie's URL-decoded value, or undefined if the signature does not match.
 * The value is `<token>.<base64 of HMAC-SHA256(token)>`.
 */
export function readSessionCookie(value: string, secret: string): string | undefined {
  const at = value.lastIndexOf(separator)
  if (at <= 0) return undefined
  const token = value.slice(0, at)
  const signature = Buffer.from(value.slice(at + 1), 'base64')
  const expected = createHmac('sha256', secret).update(token).digest()
  return signature.length === expected.length && timingSafeEqual(signature, expected) ? token : undefined
}
