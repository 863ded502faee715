import { expect, it } from 'vitest'
import { costsBetween, noCosts, type Reading, totalCpuMs } from './costs.ts'

const nothing: Reading = { ...noCosts, sandboxes: new Map(), atMs: 0 }

it('divides what was used by the requests, without what an idle server uses in that time', () => {
  const before = { ...nothing, controlPlane: 100, statements: 10, atMs: 5_000 }
  const after = { ...nothing, controlPlane: 146, statements: 32, atMs: 7_000 }
  const idle = { ...noCosts, controlPlane: 8, statements: 1 }
  expect(costsBetween(before, after, idle, 10)).toEqual({ ...noCosts, controlPlane: 3, statements: 2 })
})

it('counts sandboxes that were there and new ones, not those that ended', () => {
  const before = { ...nothing, sandboxes: new Map(Object.entries({ there: 30, ended: 500 })) }
  const after = { ...nothing, sandboxes: new Map(Object.entries({ there: 42, new: 8 })) }
  expect(costsBetween(before, after, noCosts, 2).sandboxes).toBe(10)
})

it('finds no negative costs if the server did less than when idle', () => {
  expect(costsBetween(nothing, { ...nothing, atMs: 1_000 }, { ...noCosts, agent: 15 }, 1)).toEqual(noCosts)
})

it('sums processor time, not counts', () => {
  const costs = {
    controlPlane: 1,
    agent: 2,
    postgres: 3,
    sandboxes: 4,
    statements: 100,
    calls: 100,
  }
  expect(totalCpuMs(costs)).toBe(10)
})
