/** How soon the work on copies comes to what is due. Milliseconds. */
export type CopySettings = {
  /** Age that a Snapshot reaches before it is copied: one that is resumed or deleted at once costs no copy. */
  ageMs: number
  /** After a copy that failed; twice as long after each further failure, up to an hour. */
  retryMs: number
  sweepEveryMs: number
  /** How long nothing may have needed a chunk, or have written an object, before it can go. */
  graceMs: number
  straysEveryMs: number
  /** A copy is proven anew this often, each one no sooner than `drillAgainMs` after it was proven last. */
  drillEveryMs: number
  drillAgainMs: number
}

export const usualCopySettings: CopySettings = {
  ageMs: 30_000,
  retryMs: 30_000,
  sweepEveryMs: 600_000,
  graceMs: 3_600_000,
  straysEveryMs: 86_400_000,
  drillEveryMs: 600_000,
  drillAgainMs: 86_400_000,
}

const names: Readonly<Record<string, keyof CopySettings>> = {
  age: 'ageMs',
  retry: 'retryMs',
  sweep: 'sweepEveryMs',
  grace: 'graceMs',
  strays: 'straysEveryMs',
  drill: 'drillEveryMs',
  again: 'drillAgainMs',
}

/** Reads `age=30,retry=30,sweep=600,grace=3600,strays=86400,drill=600,again=86400`, in seconds; what is left out is as usual. */
export function parseCopySettings(text: string): CopySettings {
  const settings = { ...usualCopySettings }
  for (const entry of text.split(',').filter((each) => each.trim() !== '')) {
    const [name = '', value = ''] = entry.trim().split('=')
    const key = names[name]
    const seconds = Number(value)
    if (key === undefined || value === '' || !(seconds >= 0 && seconds <= 10_000_000))
      throw new Error(`'${entry}': write seconds as ${Object.keys(names).join('=…,')}=…`)
    settings[key] = seconds * 1000
  }
  return settings
}
