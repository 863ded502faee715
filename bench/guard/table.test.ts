import { expect, it } from 'vitest'
import { noCosts } from './costs.ts'
import type { Line, Round } from './records.ts'
import { rowOf, threeDigits, writeTable } from './table.ts'

const roundsOf = (ms: number, controlPlane: number): Round[] =>
  Array.from({ length: 7 }, (_, index) => ({
    samples: [ms - 1, ms + (index % 2) / 10, ms + 1],
    costs: { ...noCosts, controlPlane, agent: 2, sandboxes: 12, statements: 2, calls: 30 },
  }))

const exec = (ms: number, controlPlane: number): Line => ({
  name: 'exec',
  unit: 'ms',
  rounds: { base: roundsOf(18, 3), now: roundsOf(ms, controlPlane) },
})

it.each([
  [1234.5, '1235'],
  [123.45, '123'],
  [12.345, '12.3'],
  [1.2345, '1.23'],
  [0.12345, '0.123'],
  [0, '0'],
  [Number.NaN, ''],
])('writes %d as %s', (value, expected) => {
  expect(threeDigits(value)).toBe(expected)
})

it('names the lines that are worse, and says if that is their processor time', () => {
  expect(writeTable([exec(18, 3)], true).worse).toEqual([])
  expect(writeTable([exec(20, 3)], true).worse).toEqual(['exec'])
  expect(writeTable([exec(18, 5)], true).worse).toEqual(['exec (processor time)'])
  expect(writeTable([exec(12, 1)], true).worse).toEqual([])
})

it('has as many cells in each row as in its header', () => {
  const idle: Line = { ...exec(18, 3), name: 'idle' }
  for (const round of [...idle.rounds.base, ...idle.rounds.now]) round.samples = []
  const memory: Line = {
    name: 'memory',
    unit: 'MiB',
    rounds: { base: [{ samples: [200] }], now: [{ samples: [110] }] },
  }
  const lines = writeTable([exec(18, 3), idle, memory], false).text.split('\n')
  expect(new Set(lines.map((line) => line.split('|').length)).size).toBe(1)
  expect(lines[3]).toMatch(
    /^\| idle \| {2}\| {2}\| {2}\| {2}\| {2}\| 17\.0 \(3\.00 \+ 2\.00 \+ 0 \+ 12\.0\) →/,
  )
  expect(lines[4]).toMatch(/^\| memory, MiB \| 1 \| 200 \/ 200 \/ 200 \/ 200 \| 110 /)
})

it('shows counts beside the times', () => {
  const line = exec(18, 3)
  line.rounds.base.at(-1)!.systemCalls = 91
  line.rounds.now.at(-1)!.systemCalls = 96
  expect(rowOf(line, true).text).toMatch(/\| 2\.0 → 2\.0 \| 30 → 30 \| 91 → 96 \|$/)
})
