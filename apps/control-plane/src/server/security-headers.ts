/** Security headers of every response. Pages of the dashboard set their own Content-Security-Policy. */

const year = 31_536_000

const always = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  // Responses of the API are data: browsers must not run or frame them.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const

/** Returns a function that adds the headers a response does not set itself. With `secure`, it also adds HSTS. */
export function securityHeaders(secure: boolean): (headers: Headers) => void {
  const all = Object.entries({
    ...always,
    ...(secure ? { 'strict-transport-security': `max-age=${year}` } : {}),
  })
  return (headers) => {
    for (const [name, value] of all) if (!headers.has(name)) headers.set(name, value)
  }
}
