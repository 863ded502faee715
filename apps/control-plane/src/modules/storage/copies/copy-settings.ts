/** When the work on copies is done. Milliseconds. */
export type CopySettings = {
  /** Age at which a Snapshot is copied. One that is resumed or deleted before costs no copy. */
  ageMs: number
  /** Wait after a failed copy. Each further failure doubles it, up to an hour. */
  retryMs: number
  /** Interval between two removals of objects that nothing needs. */
  sweepEveryMs: number
  /** How long an object must have been unused before it can be removed. */
  graceMs: number
  /** Interval between two searches for objects without a row. */
  straysEveryMs: number
  /** Interval between two proofs of a copy. A proof reads the whole copy back. */
  drillEveryMs: number
  /** How long one copy is left alone after its last proof. */
  drillAgainMs: number
}

/**
 * The variable for each time, and its default in seconds. An operator sets the interval of drills, because each reads a
 * whole copy from the store. Tests of real processes set the others.
 */
export const copyTimes = {
  DOCK_TEST_COPY_AGE_SECONDS: ['ageMs', 30],
  DOCK_TEST_COPY_RETRY_SECONDS: ['retryMs', 30],
  DOCK_TEST_COPY_SWEEP_SECONDS: ['sweepEveryMs', 600],
  DOCK_TEST_COPY_GRACE_SECONDS: ['graceMs', 3_600],
  DOCK_TEST_COPY_STRAYS_SECONDS: ['straysEveryMs', 86_400],
  DOCK_COPY_DRILL_SECONDS: ['drillEveryMs', 600],
  DOCK_TEST_COPY_DRILL_AGAIN_SECONDS: ['drillAgainMs', 86_400],
} as const satisfies Readonly<Record<string, readonly [keyof CopySettings, number]>>

export type CopyTimeName = keyof typeof copyTimes

export const copyTimeNames = Object.keys(copyTimes) as readonly CopyTimeName[]

/** Returns the settings for values in seconds. A missing value means the default. */
export function readCopySettings(seconds: Partial<Record<CopyTimeName, number | undefined>>): CopySettings {
  return Object.fromEntries(
    copyTimeNames.map((name) => {
      const [key, usual] = copyTimes[name]
      return [key, (seconds[name] ?? usual) * 1000]
    }),
  ) as CopySettings
}

export const defaultCopySettings: CopySettings = readCopySettings({})
