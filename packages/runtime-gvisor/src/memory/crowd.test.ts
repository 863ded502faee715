import { describe, expect, test } from 'vitest'
import type { ListedProcess } from '../sentry/dump-reader.ts'
import { Crowd } from './crowd.ts'

const mib = 2 ** 20
const named = (name: string, count: number, firstPid = 10): ListedProcess[] =>
  Array.from({ length: count }, (_, index) => ({ pid: firstPid + index, parentPid: 1, name }))
const outside: ListedProcess = { pid: 2, parentPid: 0, name: 'bash' }
const dock = (count: number) => [{ pid: 1, parentPid: 0, name: 'init' }, outside, ...named('bash', count)]
const calm = { isStuck: false }

const see = (crowd: Crowd, processes: ListedProcess[], atMs: number, { isStuck } = calm) =>
  crowd.see(processes, atMs, isStuck)

test('a few processes are not a bomb, no matter how fast they grow', () => {
  const crowd = new Crowd()
  expect(see(crowd, dock(20), 0)).toBe('sizes')
  expect(see(crowd, dock(140), 5)).toBe('sizes')
})

test('many processes that do not grow are not a bomb: the largest are ended', () => {
  const crowd = new Crowd()
  expect(see(crowd, dock(400), 0)).toBe('watch')
  expect(see(crowd, dock(400), 5)).toBe('sizes')
})

test('many short-lived processes whose number does not grow are watched for a moment', () => {
  const crowd = new Crowd()
  const at = (ms: number) => see(crowd, [...dock(400), ...named('sh', 5, 1000 + ms)], ms)
  expect(at(0)).toBe('watch')
  expect(at(100)).toBe('watch')
  expect(at(200)).toBe('sizes')
})

test('a slowly growing crowd is watched for longer, even if it does not grow between two checks', () => {
  const crowd = new Crowd()
  see(crowd, dock(200), 0)
  expect(see(crowd, dock(203), 100)).toBe('watch')
  expect(see(crowd, dock(203), 300)).toBe('watch')
  expect(see(crowd, dock(220), 900)).toHaveLength(220)
  const slower = new Crowd()
  see(slower, dock(200), 0)
  expect(see(slower, dock(210), 1_000)).toHaveLength(210)
})

test('a crowd of mostly short-lived processes is a bomb without room to grow', () => {
  const crowd = new Crowd()
  see(crowd, dock(400), 0)
  const replaced = [...dock(390), ...named('bash', 10, 5000)]
  expect(see(crowd, replaced, 100)).toBe('watch')
  expect(see(crowd, [...dock(390), ...named('bash', 10, 6000)], 200)).toHaveLength(400)
})

test('without room left, two checks decide', () => {
  const [still, grown] = [new Crowd(), new Crowd()]
  const stuck = { isStuck: true }
  expect(see(still, dock(400), 0, stuck)).toBe('watch')
  expect(see(still, dock(400), 5, stuck)).toBe('sizes')
  see(grown, dock(400), 0, stuck)
  expect(see(grown, dock(403), 5, stuck)).toHaveLength(403)
})

test('processes of one name that multiply while memory is short are a bomb, except commands started from outside', () => {
  const crowd = new Crowd()
  see(crowd, dock(200), 0)
  expect(see(crowd, dock(219), 5)).toBe('watch')
  const bomb = see(crowd, dock(220), 10)
  expect(bomb).toHaveLength(220)
  expect(bomb).not.toContain(outside)
})

test('all processes of a bomb are ended, and those of no other name', () => {
  const crowd = new Crowd()
  const workers = named('node', 160, 5000)
  see(crowd, [...workers, ...dock(100)], 0)
  expect(see(crowd, [...workers, ...dock(130)], 5)).toHaveLength(130)
  expect(see(crowd, [...workers, ...dock(3)], 10)).toHaveLength(3)
  expect(crowd.isBomb).toBe(true)
  expect(see(crowd, workers, 15)).toBe('watch')
  expect(crowd.isBomb).toBe(false)
  expect(see(crowd, workers, 20)).toBe('sizes')
})

test('processes that replace ended ones count as growth', () => {
  const crowd = new Crowd()
  see(crowd, dock(300), 0)
  for (const each of named('bash', 20)) crowd.ended(each)
  expect(see(crowd, dock(300), 5)).toHaveLength(300)
})

describe('a bomb that no longer grows', () => {
  const limits = (largestMiB: number) => ({ memoryBytes: 512 * mib, largestBytes: largestMiB * mib })

  test('is ended if it has nearly all processes and costs more than the largest one', () => {
    const crowd = new Crowd()
    expect(crowd.outweighing(dock(460), limits(74))).toEqual([])
    expect(crowd.outweighing(dock(480), limits(240))).toEqual([])
    expect(crowd.isBomb).toBe(false)
    expect(crowd.outweighing([...named('node', 20, 5000), ...dock(480)], limits(239))).toHaveLength(480)
    expect(crowd.isBomb).toBe(true)
  })

  test('is no bomb in a small Dock', () => {
    const small = { memoryBytes: 128 * mib, largestBytes: 0 }
    expect(new Crowd().outweighing(dock(140), small)).toEqual([])
  })
})

describe('on a slow machine, where a list takes 20 ms', () => {
  const listMs = 20
  const seeSlowly = (crowd: Crowd, processes: ListedProcess[], atMs: number, isStuck = false) =>
    crowd.see(processes, atMs, isStuck, listMs)

  test('processes that do not change are watched for 400 ms', () => {
    const crowd = new Crowd()
    expect(seeSlowly(crowd, dock(400), 0)).toBe('watch')
    expect(seeSlowly(crowd, dock(400), 30)).toBe('watch')
    expect(seeSlowly(crowd, dock(399), 100)).toBe('watch')
    expect(seeSlowly(crowd, dock(399), 499)).toBe('watch')
    expect(seeSlowly(crowd, dock(399), 500)).toBe('sizes')
  })

  test('a bomb that pauses between two lists is recognised', () => {
    const crowd = new Crowd()
    for (const [at, count] of [200, 200, 204, 204, 210, 210, 219].entries())
      expect(seeSlowly(crowd, dock(count), at * 200)).toBe('watch')
    expect(seeSlowly(crowd, dock(220), 3_000)).toHaveLength(220)
  })

  test('changing processes are watched four times as long, even without room left', () => {
    const crowd = new Crowd()
    const at = (ms: number, isStuck: boolean) =>
      seeSlowly(crowd, [...dock(400), ...named('sh', 5, 1000 + ms)], ms, isStuck)
    expect(at(0, true)).toBe('watch')
    expect(at(100, true)).toBe('watch')
    expect(at(799, false)).toBe('watch')
    expect(at(800, false)).toBe('sizes')
  })

  test('without room left, a crowd that grows or stays the same is judged at once', () => {
    const [still, grown] = [new Crowd(), new Crowd()]
    for (const crowd of [still, grown]) expect(seeSlowly(crowd, dock(400), 0, true)).toBe('watch')
    expect(seeSlowly(still, dock(400), 30, true)).toBe('sizes')
    expect(seeSlowly(grown, dock(403), 30, true)).toHaveLength(403)
  })
})
