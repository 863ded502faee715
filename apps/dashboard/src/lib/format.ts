/** Numbers and times as people read them. */

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Returns a size with at most one decimal: `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10} ${units[unit]}`
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })
const steps = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Returns a time relative to now: `3 min. ago`, `in 2 hr.`, `now`. */
export function formatRelative(iso: string, now = Date.now()): string {
  const distance = new Date(iso).getTime() - now
  for (const [unit, ms] of steps)
    if (Math.abs(distance) >= ms) return relative.format(Math.round(distance / ms), unit)
  return Math.abs(distance) < 10_000 ? 'now' : relative.format(Math.round(distance / 1000), 'second')
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** Returns the exact time in the person's zone. */
export function formatExact(iso: string): string {
  return exact.format(new Date(iso))
}

const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })

/** Returns the time of day, as the person's language writes it. */
export function formatClock(ms: number): string {
  return clock.format(ms)
}

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Returns a time to the second, short enough for a narrow row. */
export function formatMoment(iso: string): string {
  return moment.format(new Date(iso))
}

/** Returns a span as its two largest parts: `1 h 5 min`. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? `${Math.floor(hours / 24)} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}
