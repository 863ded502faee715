/** Tests a single round of a shortage, with a fake sentry. */
import { afterEach, expect, test, vi } from 'vitest'
import type { ListedProcess, MemoryDump } from '../sentry/dump-reader.ts'
import { SentrySilent } from '../sentry/sentry-connection.ts'
import { ProcessSizes } from './process-sizes.ts'
import { Relief, type SandboxMemory } from './relief.ts'

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
    memoryBytes: 512 * mib,
    targetBytes: () => 400 * mib,
    onEnded: ({ pid }) => ended.push(pid),
    onEnding: () => undefined,
    isStopped: () => false,
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

/**
 * A relief that must free 200 MiB, and a sentry that lists `processes()` and counts its dumps. `own` replaces other parts
 * of the sentry.
 */
const watched = (processes: () => Promise<ListedProcess[]>, own: Partial<SandboxMemory> = {}) => {
  const counts = { dumps: 0 }
  const lineages: (readonly number[])[] = []
  const relief = new Relief({
    sizes: new ProcessSizes(),
    usedBytes: () => 600 * mib,
    memoryBytes: 512 * mib,
    targetBytes: () => 400 * mib,
    onEnded: (_, lineage) => lineages.push(lineage),
    onEnding: () => undefined,
    isStopped: () => false,
  })
  const sentry = {
    processes,
    memory: async () => {
      counts.dumps += 1
      return { processes: sized, isWhole: true, readMs: 0 }
    },
    signal: async () => undefined,
    reduceMemory: async () => undefined,
    ...own,
  }
  return { relief, counts, lineages, round: () => relief.round(sentry, { isShort: true, isStuck: false }) }
}
const many = (count: number): ListedProcess[] =>
  Array.from({ length: count }, (_, index) => ({ pid: 1000 + index, parentPid: 1, name: 'many' }))

test('processes are watched for longer if a list takes long', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  let nowMs = 0
  const { counts, round } = watched(async () => {
    nowMs += 20
    clock.mockReturnValue(nowMs)
    return [...listed, ...many(200)]
  })
  while (counts.dumps === 0) await round()
  expect(nowMs).toBe(420)
})

test('no sizes are requested while many processes of a bomb are still exiting', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  let present = many(200)
  const { relief, counts, round } = watched(async () => [...listed, ...present])
  const dumpsAt = async (atMs: number): Promise<number> => {
    clock.mockReturnValue(atMs)
    await round()
    return counts.dumps
  }
  await dumpsAt(0)
  present = many(230)
  await dumpsAt(5)
  expect(relief.isUnderWay).toBe(true)
  expect(await dumpsAt(3_000)).toBe(0)
  present = many(3)
  expect(await dumpsAt(3_005)).toBe(1)
})

test('a bomb at its limit is ended instead of a largest process that is smaller', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  const bomb = many(520)
  const sizes = [...sized, ...bomb.map((each) => ({ ...each, rssBytes: 5 * mib }))]
  const { lineages, round } = watched(async () => [...listed, ...bomb], {
    memory: async () => ({ processes: sizes, isWhole: true, readMs: 0 }),
  })
  for (const nowMs of [0, 100, 200]) {
    clock.mockReturnValue(nowMs)
    await round()
  }
  expect(lineages.map(([pid]) => pid)).toEqual(bomb.map(({ pid }) => pid))
})

test('a zombie is not chosen again if the sizes are unknown', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  const family = [
    { pid: 1, parentPid: 0, name: 'init' },
    { pid: 7, parentPid: 8, name: 'child' },
    { pid: 8, parentPid: 1, name: 'parent' },
  ]
  const { lineages, round } = watched(async () => family, {
    memory: () => Promise.reject(new Error('silent')),
  })
  await round()
  clock.mockReturnValue(2_000)
  await round()
  expect(lineages).toEqual([
    [8, 1],
    [7, 8, 1],
  ])
})

test('a sweep stops when the sentry does not answer a signal', async () => {
  let count = 200
  const signal = () => Promise.reject(new SentrySilent('no answer'))
  const { lineages, round } = watched(async () => many(count), { signal })
  await round()
  count = 230
  await round()
  expect(lineages).toHaveLength(3)
})
