import type { Clock } from '@dock/foundation'
import { beforeEach, expect, test } from 'vitest'
import { BatchScheduling } from './batch-scheduling.ts'

let switches: boolean[]
let timers: Set<() => void>
let hasSpare: boolean
let scheduling: BatchScheduling
const clock: Clock = {
  now: () => new Date(0),
  after: (_delayMs, callback) => {
    timers.add(callback)
    return () => timers.delete(callback)
  },
}
const pass = (): void => {
  const due = [...timers]
  timers.clear()
  for (const callback of due) callback()
}
beforeEach(() => {
  ;[switches, timers, hasSpare] = [[], new Set(), true]
  const setBatch = (isBatch: boolean): void => {
    switches.push(isBatch)
  }
  scheduling = new BatchScheduling(setBatch, () => hasSpare, clock)
})

test('a command switches the threads to SCHED_BATCH for a moment, and another command extends it', () => {
  scheduling.begin()
  scheduling.begin()
  expect([switches, timers.size]).toEqual([[true], 1])
  pass()
  expect([switches, timers.size]).toEqual([[true, false], 0])
  scheduling.begin()
  expect(switches).toEqual([true, false, true])
})

test('on a busy machine nothing is switched, and SCHED_BATCH is not extended', () => {
  hasSpare = false
  scheduling.begin()
  expect([switches, timers.size]).toEqual([[], 0])
  hasSpare = true
  scheduling.begin()
  const [end] = timers
  hasSpare = false
  scheduling.begin()
  expect([...timers]).toEqual([end])
})

test('a sandbox booted under SCHED_BATCH is switched back, and a closed one is not touched', () => {
  scheduling.resetSoon()
  pass()
  expect(switches).toEqual([false])
  scheduling.begin()
  scheduling.close()
  expect(timers.size).toBe(0)
})

test('a command runs even if its threads cannot be switched', () => {
  const failing = new BatchScheduling(
    () => {
      throw new Error('no such group')
    },
    () => true,
    clock,
  )
  expect(() => failing.begin()).not.toThrow()
  expect(pass).not.toThrow()
})
