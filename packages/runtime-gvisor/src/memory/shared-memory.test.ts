import { expect, test } from 'vitest'
import { SharedMemory, type Sharer } from './shared-memory.ts'

const mib = 2 ** 20
const limitMiB = 4096

type Pretended = Sharer & { toMiB: number | undefined; hasEnded: boolean }
const sharer = (memoryMiB: number, usedMiB: number, isFrozen = false): Pretended => ({
  ...{ memoryMiB, isFrozen, toMiB: undefined, hasEnded: false },
  get isReducingMemory() {
    return this.toMiB !== undefined
  },
  usedBytes: () => usedMiB * mib,
  reduceMemoryTo(toBytes) {
    this.toMiB = Math.round(toBytes / mib)
  },
  end() {
    this.hasEnded = true
  },
})
const shared = (usedMiB: number) =>
  new SharedMemory({ usedBytes: () => usedMiB * mib }, limitMiB * mib, () => undefined)

test('no sandbox is reduced while enough is left, and checks are frequent once most is used', () => {
  const one = sharer(4096, 3900)
  expect(shared(3000).look([one])).toBe(false)
  expect(shared(3900).look([one])).toBe(true)
  expect(one.toMiB).toBeUndefined()
})

test('the sandbox furthest above its share is reduced, even if others use more', () => {
  const [large, hog, small] = [sharer(8192, 2200), sharer(1024, 1000), sharer(1024, 800)]
  expect(shared(4000).look([large, hog, small])).toBe(true)
  expect([large.toMiB, small.toMiB]).toEqual([undefined, undefined])
  // 4000 MiB are used; the target is 3968 MiB minus 1/64.
  expect(hog.toMiB).toBe(1000 - (4000 - (3968 - 62)))
})

test('no sandbox is reduced below its share', () => {
  const [one, other] = [sharer(1024, 2040), sharer(1024, 2000)]
  shared(9000).look([one, other])
  expect([one.toMiB, other.toMiB]).toEqual([1984, undefined])
})

test('frozen and dead sandboxes are skipped, and the others share the rest', () => {
  const gone: Sharer = {
    ...sharer(512, 0),
    usedBytes: () => {
      throw new Error('gone')
    },
  }
  const [frozen, running] = [sharer(512, 3000, true), sharer(3072, 3000)]
  shared(4090).look([frozen, gone, running])
  expect([frozen.toMiB, running.toMiB]).toEqual([undefined, 2816])
})

test('only one sandbox is reduced at a time', () => {
  const [one, other] = [sharer(1024, 3000), sharer(1024, 2900)]
  const all = shared(4090)
  all.look([one, other])
  all.look([one, other])
  expect(one.toMiB).toBeDefined()
  expect(other.toMiB).toBeUndefined()
})

test('a sandbox that frees nothing is ended', () => {
  const [hog, neighbour] = [sharer(1024, 2000), sharer(3072, 2000)]
  const all = shared(4000)
  all.look([hog, neighbour])
  expect([hog.toMiB, hog.hasEnded]).toEqual([1906, false])
  hog.toMiB = undefined
  all.look([hog, neighbour])
  expect([hog.hasEnded, neighbour.hasEnded, neighbour.toMiB]).toEqual([true, false, undefined])
})

test('a sandbox that grows again is reduced again', () => {
  let usedMiB = 2000
  const hog = { ...sharer(1024, 0), usedBytes: () => usedMiB * mib, isReducingMemory: false }
  const all = shared(4000)
  all.look([hog, sharer(3072, 2000)])
  usedMiB = 1950
  all.look([hog, sharer(3072, 2000)])
  expect(hog.hasEnded).toBe(false)
})
