/** The first of each list that the header names wins: Edge and Opera also name Chrome, and Chrome names Safari. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const

/** Returns a short name for a browser's `User-Agent`: `Firefox on Linux`. */
export function deviceName(userAgent: string | null): string {
  const text = userAgent ?? ''
  const find = (list: readonly (readonly [string, string])[]) =>
    list.find(([word]) => text.includes(word))?.[1]
  const [browser, system] = [find(browsers), find(systems)]
  if (browser && system) return `${browser} on ${system}`
  return browser ?? system ?? (text.slice(0, 40) || 'Unknown program')
}
