import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { beforeEach, expect, test } from 'vitest'
import { BatchScheduling } from './batch-scheduling.ts'

let switches: boolean[]
let clock: VirtualClock
let hasSpare: boolean
let scheduling: BatchScheduling
/** Lets every timer run out. */
const advance = (): void => clock.advance(Math.max(0, ...clock.pending()))
beforeEach(() => {
  ;[switches, clock, hasSpare] = [[], createVirtualClock(), true]
  const setBatch = (isBatch: boolean): void => {
    switches.push(isBatch)
  }
  scheduling = new BatchScheduling(setBatch, () => hasSpare, clock)
})

test('a command switches the threads to SCHED_BATCH for a moment, and another command extends it', () => {
  scheduling.begin()
  scheduling.begin()
  expect([switches, clock.pending().length]).toEqual([[true], 1])
  advance()
  expect([switches, clock.pending().length]).toEqual([[true, false], 0])
  scheduling.begin()
  expect(switches).toEqual([true, false, true])
})

test('on a busy machine nothing is switched, and SCHED_BATCH is not extended', () => {
  hasSpare = false
  scheduling.begin()
  expect([switches, clock.pending().length]).toEqual([[], 0])
  hasSpare = true
  scheduling.begin()
  const [end] = clock.pending()
  hasSpare = false
  scheduling.begin()
  expect(clock.pending()).toEqual([end])
})

test('a sandbox booted under SCHED_BATCH is switched back, and a closed one is not touched', () => {
  scheduling.resetSoon()
  advance()
  expect(switches).toEqual([false])
  scheduling.begin()
  scheduling.close()
  expect(clock.pending().length).toBe(0)
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
  expect(advance).not.toThrow()
})
