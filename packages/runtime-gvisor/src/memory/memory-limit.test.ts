import { expect, test } from 'vitest'
import { MemoryLimit } from './memory-limit.ts'

const mib = 2 ** 20
const [usualMiB, step] = [640, 64]

/** A limit of 640 MiB for a group that uses `usedMiB()`, and refuses a lower limit as version 1 does. */
const limitOf = (usedMiB: () => number, code = 'EBUSY') => {
  const set: number[] = []
  const group = {
    usedBytes: () => usedMiB() * mib,
    setLimit: (bytes: number) => {
      if (bytes < usedMiB() * mib) throw Object.assign(new Error(code), { code })
      set.push(bytes / mib)
    },
  }
  return { limit: new MemoryLimit(group, usualMiB * mib), set }
}

test('is raised when the group is stuck or little is left, at most four times', () => {
  const { limit, set } = limitOf(() => 100)
  limit.set()
  limit.raiseIfTight({ isStuck: false, chargedBytes: 500 * mib })
  expect(set).toEqual([usualMiB])
  limit.raiseIfTight({ isStuck: false, chargedBytes: 600 * mib })
  for (let i = 0; i < 9; i++) limit.raiseIfTight({ isStuck: true, chargedBytes: 600 * mib })
  expect(set).toEqual([0, 1, 2, 3, 4].map((raises) => usualMiB + raises * step))
})

test('starts with the lowest raise that the group fits in, and is restored once less is used', () => {
  let usedMiB = usualMiB + step + 1
  const { limit, set } = limitOf(() => usedMiB)
  limit.set()
  expect(set).toEqual([usualMiB + 2 * step])
  expect(limit.restore()).toBe(false)
  usedMiB = 100
  expect(limit.restore()).toBe(true)
  expect(limit.restore()).toBe(false)
  expect(set).toEqual([usualMiB + 2 * step, usualMiB])
})

test('throws if more is used than four raises allow, or for another error', () => {
  expect(() => limitOf(() => usualMiB + 5 * step).limit.set()).toThrow('EBUSY')
  expect(() => limitOf(() => usualMiB + 1, 'ENOENT').limit.set()).toThrow('ENOENT')
})

test('is not restored below what is used, because version 2 would then kill a process', () => {
  const set: number[] = []
  const group = { usedBytes: () => (usualMiB + 1) * mib, setLimit: (bytes: number) => set.push(bytes / mib) }
  const limit = new MemoryLimit(group, usualMiB * mib)
  limit.raiseIfTight({ isStuck: true, chargedBytes: usualMiB * mib })
  expect(limit.restore()).toBe(false)
  expect(set).toEqual([usualMiB + step])
})
