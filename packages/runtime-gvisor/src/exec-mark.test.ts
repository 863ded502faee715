import { expect, test } from 'vitest'
import { markCapabilities, markedBoundingSet, newExecMark } from './exec-mark.ts'

test('each mark has a pattern of its own kind, never an empty one', () => {
  const marks = Array.from({ length: 2000 }, newExecMark)
  expect(new Set(marks).size).toBe(marks.length)
  for (const mark of marks) expect(markCapabilities(mark).length).toBeGreaterThan(0)
})

test('a marked bounding set is the usual one and the pattern', () => {
  const mark = `00001${'0'.repeat(20)}`
  expect(markCapabilities(mark)).toEqual(['LINUX_IMMUTABLE'])
  // CapBnd of an ordinary process is 00000000a80c05ff.
  expect(markedBoundingSet(mark)).toBe('00000000a80c07ff')
})

test('no pattern gives a root anything that a sandbox implements', () => {
  const all = markCapabilities(`1ffff${'0'.repeat(20)}`)
  expect(all).toHaveLength(17)
  for (const real of ['SYS_ADMIN', 'NET_ADMIN', 'NET_RAW', 'SYS_NICE', 'SYS_RESOURCE', 'IPC_OWNER']) {
    expect(all).not.toContain(real)
  }
})
