import { beforeEach, expect, test } from 'vitest'
import { SpareCpu } from './spare-cpu.ts'

let running: number
let idleTicks: number
let nowMs: number
let spare: SpareCpu
const readText = (path: string): string =>
  path === '/proc/loadavg' ? `0.00 0.00 0.00 ${running}/90 1234\n` : `cpu  7 0 7 ${idleTicks} 0 0 0 0 0 0\n`
/** Advances the clock while this share of both processors is idle. */
const advance = (milliseconds: number, idleShare: number): void => {
  nowMs += milliseconds
  idleTicks += (milliseconds * 2 * idleShare) / 10
}
beforeEach(() => {
  ;[running, idleTicks, nowMs] = [1, 1000, 5000]
  spare = new SpareCpu(2, readText, () => nowMs)
})

test('a machine without waiting threads has a spare processor, however busy it was', () => {
  advance(1000, 0)
  expect(spare.isAvailable).toBe(true)
  running = 2
  expect(spare.isAvailable).toBe(true)
})

test('waiting threads are ignored if the machine was idle before, but not if it was busy', () => {
  running = 6
  advance(1000, 0.5)
  expect(spare.isAvailable).toBe(true)
  advance(1000, 0.2)
  expect(spare.isAvailable).toBe(false)
  advance(1000, 0.3)
  expect(spare.isAvailable).toBe(true)
})

test('a check too soon after the last one repeats its result', () => {
  running = 6
  expect(spare.isAvailable).toBe(false)
  advance(1000, 1)
  expect(spare.isAvailable).toBe(true)
  advance(50, 0)
  expect(spare.isAvailable).toBe(true)
  advance(50, 0)
  expect(spare.isAvailable).toBe(false)
})
