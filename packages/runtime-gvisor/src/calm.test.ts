import { beforeEach, expect, test } from 'vitest'
import { Calm } from './calm.ts'

let running: number
let idleTicks: number
let nowMs: number
let calm: Calm
const readText = (path: string): string =>
  path === '/proc/loadavg' ? `0.00 0.00 0.00 ${running}/90 1234\n` : `cpu  7 0 7 ${idleTicks} 0 0 0 0 0 0\n`
/** Lets time go by in which this share of both processors is idle. */
const pass = (milliseconds: number, idleShare: number): void => {
  nowMs += milliseconds
  idleTicks += (milliseconds * 2 * idleShare) / 10
}
beforeEach(() => {
  ;[running, idleTicks, nowMs] = [1, 1000, 5000]
  calm = new Calm(2, readText, () => nowMs)
})

test('a machine on which no thread waits is calm, however busy it was', () => {
  pass(1000, 0)
  expect(calm.holds).toBe(true)
  running = 2
  expect(calm.holds).toBe(true)
})

test('a moment in which threads wait does not count on a machine that was idle, but does on a busy one', () => {
  running = 6
  pass(1000, 0.5)
  expect(calm.holds).toBe(true)
  pass(1000, 0.2)
  expect(calm.holds).toBe(false)
  pass(1000, 0.3)
  expect(calm.holds).toBe(true)
})

test('too short a time since the last look says what that said', () => {
  running = 6
  expect(calm.holds).toBe(false)
  pass(1000, 1)
  expect(calm.holds).toBe(true)
  pass(50, 0)
  expect(calm.holds).toBe(true)
  pass(50, 0)
  expect(calm.holds).toBe(false)
})
