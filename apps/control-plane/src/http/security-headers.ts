/** Headers of every answer that tell browsers what never to do with it. A page of the dashboard brings its own policy. */

const year = 31_536_000

const always = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  // Answers of the API are data: nothing in them runs, and nobody frames them.
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
} as const

/** Sets what the answer does not set itself; over https, browsers also learn to come by https alone. */
export function securityHeaders(secure: boolean): (headers: Headers) => void {
  const all = Object.entries({
    ...always,
    ...(secure ? { 'strict-transport-security': `max-age=${year}` } : {}),
  })
  return (headers) => {
    for (const [name, value] of all) if (!headers.has(name)) headers.set(name, value)
  }
}
