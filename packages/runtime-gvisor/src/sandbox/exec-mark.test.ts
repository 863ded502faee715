import { expect, test } from 'vitest'
import { ExecMarks, markCapabilities, markedBoundingSet } from './exec-mark.ts'

test('a pattern repeats only after all others were used, and is never empty', () => {
  const marks = new ExecMarks()
  const nextPattern = () => marks.next().slice(0, 5)
  const first = nextPattern()
  const patterns = new Set([first])
  for (let next = nextPattern(); next !== first; next = nextPattern()) patterns.add(next)
  expect(patterns.size).toBe(2 ** 17 - 1)
  expect(patterns).not.toContain('00000')
})

test('a marked bounding set is the usual set plus the pattern', () => {
  const mark = `00001${'0'.repeat(20)}`
  expect(markCapabilities(mark)).toEqual(['LINUX_IMMUTABLE'])
  // CapBnd of an ordinary process is 00000000a80c05ff.
  expect(markedBoundingSet(mark)).toBe('00000000a80c07ff')
})

test('no pattern contains a capability that a sandbox implements', () => {
  const all = markCapabilities(`1ffff${'0'.repeat(20)}`)
  expect(all).toHaveLength(17)
  for (const real of ['SYS_ADMIN', 'NET_ADMIN', 'NET_RAW', 'SYS_NICE', 'SYS_RESOURCE', 'IPC_OWNER']) {
    expect(all).not.toContain(real)
  }
})
