import type { Clock } from '@dock/foundation'
import { beforeEach, expect, test } from 'vitest'
import { FirstMoments } from './first-moments.ts'

let said: boolean[]
let timers: Set<() => void>
let calm: boolean
let moments: FirstMoments
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
  ;[said, timers, calm] = [[], new Set(), true]
  const setPatient = (isPatient: boolean): void => {
    said.push(isPatient)
  }
  moments = new FirstMoments(setPatient, () => calm, clock)
})

test('a command makes the threads patient for a moment, the next one only longer so', () => {
  moments.begin()
  moments.begin()
  expect([said, timers.size]).toEqual([[true], 1])
  pass()
  expect([said, timers.size]).toEqual([[true, false], 0])
  moments.begin()
  expect(said).toEqual([true, false, true])
})

test('beside busy neighbours nothing is changed, and the end of a moment is not put off', () => {
  calm = false
  moments.begin()
  expect([said, timers.size]).toEqual([[], 0])
  calm = true
  moments.begin()
  const [end] = timers
  calm = false
  moments.begin()
  expect([...timers]).toEqual([end])
})

test('a sandbox that was booted so is set back, and one that is gone is left alone', () => {
  moments.endSoon()
  pass()
  expect(said).toEqual([false])
  moments.begin()
  moments.close()
  expect(timers.size).toBe(0)
})

test('threads that cannot be changed do not keep a command from running', () => {
  const failing = new FirstMoments(
    () => {
      throw new Error('no such group')
    },
    () => true,
    clock,
  )
  expect(() => failing.begin()).not.toThrow()
  expect(pass).not.toThrow()
})
