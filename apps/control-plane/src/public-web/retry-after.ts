/** Reads the header Retry-After (RFC 9110, section 10.2.3). */

const seconds = /^\d{1,9}$/
/** The form in which dates are sent: `Sun, 06 Nov 1994 08:49:37 GMT`. `Date.parse` alone accepts nearly any text. */
const httpDate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/

/** Returns the seconds to wait from `now`, 0 for a date in the past, or null if the header is absent or malformed. */
export function readRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null
  if (seconds.test(header)) return Number(header)
  const at = httpDate.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now.getTime()) / 1000))
}
