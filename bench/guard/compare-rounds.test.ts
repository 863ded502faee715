import { describe, expect, it } from 'vitest'
import { compareRounds, median } from './compare-rounds.ts'

const rounds = [100, 104, 98, 130, 101, 97, 103]
/** Returns the rounds, each times a factor and one of these deviations in turn. */
const times = (factor: number, deviations: readonly number[]) =>
  rounds.map((each, index) => each * factor * deviations[index % deviations.length]!)

describe('compareRounds', () => {
  it('is worse if all rounds are slower by more than the allowed share', () => {
    expect(compareRounds(rounds, times(1.08, [0.99, 1.01]))).toMatchObject({ verdict: 'worse' })
  })

  it('is not worse within the allowed share, although a test of difference would see one', () => {
    const found = compareRounds(rounds, times(1.02, [0.999, 1.001]))
    expect(found.verdict).toBe('not worse')
    expect(found.low).toBeGreaterThan(1)
  })

  it('ignores what slows both sides of one round down', () => {
    const slow = rounds.map((each, index) => (index === 3 ? each * 5 : each))
    expect(compareRounds(slow, slow)).toEqual({ ratio: 1, low: 1, high: 1, verdict: 'not worse' })
  })

  it('is unclear if the rounds contradict each other', () => {
    expect(compareRounds(rounds, times(1.1, [0.75, 1.3])).verdict).toBe('unclear')
  })

  it('is better if all rounds are faster', () => {
    const found = compareRounds(rounds, times(0.8, [0.99, 1.01]))
    expect(found.verdict).toBe('better')
    expect(found.ratio).toBeCloseTo(0.8, 2)
  })

  it('has a wider interval with fewer rounds of the same spread', () => {
    const width = (count: number) => {
      const { low, high } = compareRounds(
        Array.from({ length: count }, () => 1),
        Array.from({ length: count }, (_, index) => (index % 2 ? 1.05 : 0.95)),
      )
      return high - low
    }
    expect(width(4)).toBeGreaterThan(width(8))
    expect(width(8)).toBeGreaterThan(width(40))
  })

  it.each([
    ['no round', [], []],
    ['one round', [10], [20]],
    ['rounds that one side lacks', [10, 10], [20]],
    ['figures of zero', [0, 0, 0], [0, 0, 0]],
  ])('claims nothing from %s', (_, base, now) => {
    expect(compareRounds(base, now).verdict).toBe('unclear')
  })
})

describe('median', () => {
  it.each([
    [[3, 1, 2], 2],
    [[4, 1, 2, 3], 2.5],
    [[7], 7],
    [[], Number.NaN],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected)
  })
})
