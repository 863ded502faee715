/** Tests the guard with a fake group and sentry, for cases that are too rare with real ones. */
import { expect, onTestFinished, test, vi } from 'vitest'
import type { MemoryProcess } from '../sentry/dump-reader.ts'
import { SentryRefused, SentrySilent } from '../sentry/sentry-connection.ts'
import type { MemoryGroup } from './memory-group.ts'
import { headroomMiB, MemoryGuard } from './memory-guard.ts'
import type { SandboxMemory } from './relief.ts'

const mib = 2 ** 20
const memoryMiB = 512
const hog: MemoryProcess = { pid: 7, parentPid: 1, name: 'hog', rssBytes: 500 * mib }

/**
 * A fake group that uses `usedMiB`, and a fake sentry that lists the hog until it is signalled. `signal` is the
 * sentry's response to the signal. `own` replaces other parts of them.
 */
const guardOf = (
  usedMiB: number,
  signal: () => Promise<void>,
  own: { group?: Partial<MemoryGroup>; sentry?: Partial<SandboxMemory> } = {},
) => {
  const limits: number[] = []
  const told: string[] = []
  let isThere = true
  const group: MemoryGroup = {
    read: () => ({ chargedBytes: (isThere ? usedMiB : 50) * mib, isStuck: false }),
    usedBytes: () => (isThere ? usedMiB : 50) * mib,
    setLimit: (bytes) => limits.push(bytes / mib),
    setKernelKills: () => undefined,
    kernelKills: () => 0,
    listen: () => () => undefined,
    ...own.group,
  }
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const guard = new MemoryGuard({
    ...{ group, memoryMiB },
    sentry: async () => ({
      processes: async () => (isThere ? [hog] : []),
      memory: async () => ({ processes: isThere ? [hog] : [], isWhole: true, readMs: 0 }),
      signal: () => {
        isThere = false
        setImmediate(resolve)
        return signal()
      },
      reduceMemory: async () => undefined,
      ...own.sentry,
    }),
    onEnded: ({ name }) => told.push(name),
    endSandbox: () => undefined,
  })
  return { guard, limits, told, over }
}

test('raises the limit before it is reached, because kernel allocations fail at the limit', async () => {
  const { guard, limits, over } = guardOf(memoryMiB + headroomMiB - 10, async () => undefined)
  await over
  guard.close()
  expect(limits.slice(0, 2)).toEqual([memoryMiB + headroomMiB, memoryMiB + headroomMiB + 64])
})

test('does not raise the limit while enough memory is left', async () => {
  const { guard, limits, over } = guardOf(memoryMiB + 10, async () => undefined)
  await over
  guard.close()
  expect(limits).toEqual([memoryMiB + headroomMiB])
})

test.each([
  { answer: 'silence', error: new SentrySilent('no answer'), told: ['hog'] },
  { answer: 'that it is not there', error: new SentryRefused('no such process'), told: [] },
])('a signal whose response is $answer is reported as $told', async ({ error, told }) => {
  const made = guardOf(memoryMiB + 10, () => Promise.reject(error))
  await made.over
  made.guard.close()
  expect(made.guard.isShort).toBe(true)
  expect(made.told).toEqual(told)
})

test('ends the largest process if the sandbox must free memory for others, even if its own is not short', async () => {
  const { guard, told, over } = guardOf(300, async () => undefined)
  expect(guard.look()).toBe(false)
  guard.reduceMemoryTo(250 * mib)
  await over
  await expect.poll(() => guard.isReducingMemory).toBe(false)
  guard.close()
  expect(told).toEqual(['hog'])
})

test('does not free more than requested', () => {
  const { guard, told } = guardOf(300, async () => undefined)
  guard.reduceMemoryTo(300 * mib)
  expect(guard.isReducingMemory).toBe(false)
  guard.close()
  expect(told).toEqual([])
})

test('a victim that is still exiting is not ended again after the sentry was silent', async () => {
  const signals: number[] = []
  let lists = 0
  const { guard } = guardOf(memoryMiB + 10, async () => undefined, {
    sentry: {
      processes: async () => {
        lists += 1
        if (lists === 2) throw new SentrySilent('no answer')
        return [hog]
      },
      signal: async (pid) => void signals.push(pid),
    },
  })
  await expect.poll(() => guard.look() && lists).toBeGreaterThan(5)
  guard.close()
  expect(signals).toEqual([hog.pid])
})

test('a group that is stuck again an hour later has not been stuck for that hour', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => clock.mockRestore())
  let isStuck = true
  const kernelKills: boolean[] = []
  const { guard } = guardOf(50, async () => undefined, {
    group: {
      read: () => ({ chargedBytes: 50 * mib, isStuck }),
      setKernelKills: (kills) => kernelKills.push(kills),
    },
    sentry: { processes: () => Promise.reject(new SentrySilent('no answer')) },
  })
  isStuck = false
  await expect.poll(() => guard.look()).toBe(false)
  clock.mockReturnValue(3_600_000)
  isStuck = true
  expect(guard.look()).toBe(true)
  expect(kernelKills).not.toContain(true)
  guard.close()
})

test('an end by the kernel before the guard began does not make a death count as out of memory', () => {
  let kills = 1
  const { guard } = guardOf(50, async () => undefined, { group: { kernelKills: () => kills } })
  expect(guard.hasRunOut).toBe(false)
  kills = 2
  expect(guard.hasRunOut).toBe(true)
  guard.close()
})

test('guards a sandbox that uses more than its limit, because the limit had been raised by an earlier agent', async () => {
  const limits: number[] = []
  let usedMiB = memoryMiB + headroomMiB + 10
  const free = async (): Promise<void> => {
    usedMiB = 50
  }
  const { guard } = guardOf(usedMiB, free, {
    group: {
      read: () => ({ chargedBytes: usedMiB * mib, isStuck: false }),
      usedBytes: () => usedMiB * mib,
      setLimit: (bytes) => {
        if (bytes < usedMiB * mib) throw Object.assign(new Error('busy'), { code: 'EBUSY' })
        limits.push(bytes / mib)
      },
    },
  })
  await expect.poll(() => limits.at(-1)).toBe(memoryMiB + headroomMiB)
  expect(limits[0]).toBe(memoryMiB + headroomMiB + 64)
  guard.close()
})

test.each(['closed', 'frozen'])('a sweep stops when the guard is %s', async (how) => {
  const bomb = Array.from({ length: 230 }, (_, index) => ({ pid: 100 + index, parentPid: 1, name: 'bomb' }))
  const signals: number[] = []
  let lists = 0
  const { guard } = guardOf(memoryMiB + 10, async () => undefined, {
    sentry: {
      processes: async () => {
        lists += 1
        return lists === 1 ? bomb.slice(0, 200) : bomb
      },
      signal: async (pid) => {
        signals.push(pid)
        if (how === 'closed') guard.close()
        else guard.isFrozen = true
      },
    },
  })
  await expect.poll(() => signals.length).toBeGreaterThan(0)
  await guard.ending
  expect(signals).toHaveLength(1)
  guard.close()
})

test('the time that a stuck sandbox is frozen does not count as stuck', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
  onTestFinished(() => clock.mockRestore())
  const kernelKills: boolean[] = []
  const { guard } = guardOf(50, async () => undefined, {
    group: {
      read: () => ({ chargedBytes: 50 * mib, isStuck: true }),
      setKernelKills: (kills) => kernelKills.push(kills),
    },
    sentry: { processes: () => Promise.reject(new SentrySilent('no answer')) },
  })
  guard.isFrozen = true
  await new Promise((resolve) => setImmediate(resolve))
  clock.mockReturnValue(3_600_000)
  guard.isFrozen = false
  expect(guard.look()).toBe(true)
  expect(kernelKills).not.toContain(true)
  guard.close()
})
