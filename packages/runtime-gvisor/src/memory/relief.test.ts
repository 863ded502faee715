/** Tests a single round of a shortage, with a fake sentry. */
import { afterEach, expect, test, vi } from 'vitest'
import type { MemoryDump } from './dump-reader.ts'
import { ProcessSizes } from './process-sizes.ts'
import { Relief } from './relief.ts'

const mib = 2 ** 20
const hog = { pid: 9, parentPid: 1, name: 'hog' }
const workers = Array.from({ length: 50 }, (_, index) => ({ pid: 100 + index, parentPid: 1, name: 'worker' }))
const listed = [{ pid: 1, parentPid: 0, name: 'init' }, hog, ...workers]

/** Runs a round with 600 MiB used when sizes are requested and a target of 400 MiB. Returns the pids of the victims. */
const round = async (
  memory: () => Promise<MemoryDump>,
  usedAfterMiB: number,
  reduceMemory = async (): Promise<void> => undefined,
): Promise<number[]> => {
  const ended: number[] = []
  let usedMiB = 600
  const relief = new Relief({
    sizes: new ProcessSizes(),
    usedBytes: () => usedMiB * mib,
    targetBytes: () => 400 * mib,
    onEnded: ({ pid }) => ended.push(pid),
    onEnding: () => undefined,
  })
  const sentry = {
    processes: async () => listed,
    memory: () => {
      usedMiB = usedAfterMiB
      return memory()
    },
    signal: async () => undefined,
    reduceMemory,
  }
  await relief.round(sentry, { isShort: true, isStuck: false })
  return ended
}
afterEach(() => void vi.restoreAllMocks())

const sized = listed.map((each) => ({ ...each, rssBytes: (each === hog ? 250 : 4) * mib }))

test('no process is ended for memory that the hog took while its size was requested', async () => {
  const dump = { processes: sized, isWhole: true, readMs: 0 }
  expect(await round(async () => dump, 1_000)).toEqual([hog.pid])
})

test('no process is ended if enough memory was freed meanwhile', async () => {
  const dump = { processes: sized, isWhole: true, readMs: 0 }
  expect(await round(async () => dump, 390)).toEqual([])
})

test('the newest process is ended if the sizes are unknown', async () => {
  expect(await round(() => Promise.reject(new Error('silent')), 600)).toEqual([workers.at(-1)!.pid])
})

test('a sentry that does not reduce its memory does not end the round', async () => {
  const silent = () => Promise.reject(new Error('silent'))
  expect(await round(silent, 600, silent)).toEqual([workers.at(-1)!.pid])
})

test('no sizes are requested while many processes of a bomb are still exiting', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  const bomb = Array.from({ length: 230 }, (_, index) => ({ pid: 1000 + index, parentPid: 1, name: 'bomb' }))
  let [present, dumps] = [bomb.slice(0, 200), 0]
  const relief = new Relief({
    sizes: new ProcessSizes(),
    usedBytes: () => 600 * mib,
    targetBytes: () => 400 * mib,
    onEnded: () => undefined,
    onEnding: () => undefined,
  })
  const sentry = {
    processes: async () => [...listed, ...present],
    memory: async () => {
      dumps += 1
      return { processes: sized, isWhole: true, readMs: 0 }
    },
    signal: async () => undefined,
    reduceMemory: async () => undefined,
  }
  const roundAt = async (atMs: number): Promise<number> => {
    clock.mockReturnValue(atMs)
    await relief.round(sentry, { isShort: true, isStuck: false })
    return dumps
  }
  await roundAt(0)
  present = bomb
  await roundAt(5)
  expect(relief.isUnderWay).toBe(true)
  expect(await roundAt(3_000)).toBe(0)
  present = bomb.slice(0, 3)
  expect(await roundAt(3_005)).toBe(1)
})
