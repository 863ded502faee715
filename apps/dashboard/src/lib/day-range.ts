const midnightOf = (day: string, daysLater = 0): string => {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  return new Date(year, month - 1, date + daysLater).toISOString()
}

/** Returns when the first day begins and the last one ends, in the person's zone. */
export function dayRange(
  from: string | undefined,
  to: string | undefined,
): { since?: string | undefined; until?: string | undefined } {
  return {
    since: from === undefined ? undefined : midnightOf(from),
    until: to === undefined ? undefined : midnightOf(to, 1),
  }
}
