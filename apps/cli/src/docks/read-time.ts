/** A moment in the past as flags write it. */
import { UsageError } from '../program/failures.ts'
import { secondsOf } from './sizes.ts'

const isoPattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(?<zone>Z|[+-]\d\d:\d\d)?)?$/

/**
 * Returns the time of an ISO text, or of a span before now such as `7d`. Without a zone it is UTC, as the times that tables
 * show.
 */
export function readTime(flag: string, text: string, now = Date.now()): string {
  if (/^\d+[smhd]$/.test(text)) return new Date(now - secondsOf(flag, text) * 1000).toISOString()
  const iso = isoPattern.exec(text)
  const isLocal = text.includes('T') && iso?.groups?.zone === undefined
  const at = iso ? Date.parse(isLocal ? `${text}Z` : text) : Number.NaN
  if (Number.isNaN(at))
    throw new UsageError(
      `--${flag} needs a time such as 2026-11-30, 2026-11-30T09:00Z, 7d or 24h, not ${JSON.stringify(text)}.`,
    )
  return new Date(at).toISOString()
}
