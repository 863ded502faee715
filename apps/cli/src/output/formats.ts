/** Sizes, times and rates as people read them. */

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** Returns `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [Math.max(0, bytes), 0]
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  const text =
    unit === 0 || value >= 100 ? Math.round(value).toString() : value.toFixed(1).replace(/\.0$/, '')
  return `${text} ${units[unit]}`
}

/** Returns `40 s`, `5 min`, `3 h`, `2 d`. */
export function formatSeconds(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 5400) return `${Math.round(whole / 60)} min`
  return whole < 48 * 3600 ? `${Math.round(whole / 3600)} h` : `${Math.round(whole / 86_400)} d`
}

/** Returns how long ago a time of the service was, or `–`. */
export function formatAge(time: string | null, now = Date.now()): string {
  const at = time === null ? Number.NaN : Date.parse(time)
  return Number.isNaN(at) ? '–' : formatSeconds((now - at) / 1000)
}

/** Returns `4 GiB` for mebibytes. */
export function formatMebibytes(mebibytes: number): string {
  return formatBytes(mebibytes * 1024 * 1024)
}
