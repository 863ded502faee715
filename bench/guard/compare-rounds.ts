/**
 * The verdict of one line: whether a figure of this checkout is worse than that of the base. Both were measured in the same
 * rounds, so each round gives one ratio, which the machine's speed at that time does not change. Docks differ for their
 * whole life, and each round has new ones, so the spread of the ratios contains that too.
 */

export type Verdict = 'worse' | 'better' | 'not worse' | 'unclear'

/** `ratio` is this checkout's figure divided by the base's. The true ratio is within `low` and `high` in nine of ten runs. */
export type Comparison = { ratio: number; low: number; high: number; verdict: Verdict }

/** A figure may be this much worse, as a share. */
export const allowedShare = 0.03

/** Student's t for a one-sided error of 5 %, by degrees of freedom. The last one stands for all above. */
const students = [Number.POSITIVE_INFINITY, 6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81, 1.75]

/** Returns the middle value, or the mean of the two middle values. NaN if there are none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1
    ? sorted[Math.floor(middle)]!
    : ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/**
 * Compares the figures of the same rounds. `worse` means that the whole interval lies above the allowed share, `unclear`
 * that the spread is too large to say. Rounds without a positive figure on both sides are left out.
 */
export function compareRounds(base: readonly number[], now: readonly number[]): Comparison {
  const logarithms = base.flatMap((figure, round) => {
    const logarithm = Math.log((now[round] ?? Number.NaN) / figure)
    return Number.isFinite(logarithm) ? [logarithm] : []
  })
  const count = logarithms.length
  if (count === 0) return { ratio: Number.NaN, low: 0, high: Number.POSITIVE_INFINITY, verdict: 'unclear' }
  const mean = logarithms.reduce((sum, each) => sum + each, 0) / count
  const squares = logarithms.reduce((sum, each) => sum + (each - mean) ** 2, 0)
  const t = students[Math.min(count, students.length) - 1]!
  const half = count === 1 ? Number.POSITIVE_INFINITY : t * Math.sqrt(squares / (count - 1) / count)
  const [low, high] = [Math.exp(mean - half), Math.exp(mean + half)]
  return { ratio: Math.exp(mean), low, high, verdict: verdictOf(low, high) }
}

const verdictOf = (low: number, high: number): Verdict => {
  if (low > 1 + allowedShare) return 'worse'
  if (high < 1 - allowedShare) return 'better'
  return high <= 1 + allowedShare ? 'not worse' : 'unclear'
}
