/** The signed session cookie of the sign-in library, checked without going through it. */
import { createHmac, timingSafeEqual } from 'node:crypto'

const separator = '.'

/** Over https, cookies carry the prefix that browsers bind to one host, its root path and a secure connection. */
export function cookiePrefix(secure: boolean): string {
  return `${secure ? '__Host-' : ''}dock`
}

export function sessionCookieName(secure: boolean): string {
  return `${cookiePrefix(secure)}.session_token`
}

/** Whether a cookie of this name is one that this service set, over http or https. */
export function isPlatformCookie(name: string): boolean {
  return [false, true].some((secure) => name.startsWith(`${cookiePrefix(secure)}.`))
}

/** The token inside a cookie's value (URL-decoded: `<token>.<base64 HMAC-SHA256 of it>`), or undefined when forged. */
export function readSessionCookie(value: string, secret: string): string | undefined {
  const at = value.lastIndexOf(separator)
  if (at <= 0) return undefined
  const token = value.slice(0, at)
  const signature = Buffer.from(value.slice(at + 1), 'base64')
  const expected = createHmac('sha256', secret).update(token).digest()
  return signature.length === expected.length && timingSafeEqual(signature, expected) ? token : undefined
}
