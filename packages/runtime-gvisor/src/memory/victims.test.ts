import { describe, expect, test } from 'vitest'
import type { ListedProcess, MemoryProcess } from '../sentry/dump-reader.ts'
import { Victims } from './victims.ts'

const mib = 2 ** 20
const process = (pid: number, parentPid: number, rssMiB: number, name = `p${pid}`): MemoryProcess => ({
  ...{ pid, parentPid, name, rssBytes: rssMiB * mib },
})
const pids = (processes: readonly ListedProcess[]) => processes.map(({ pid }) => pid)
const need = (usedMiB: number, targetMiB: number) => ({
  usedBytes: usedMiB * mib,
  targetBytes: targetMiB * mib,
})

describe('victims', () => {
  test('are the largest, as many as are needed, and never process 1', () => {
    const processes = [process(1, 0, 900), process(2, 0, 10), process(3, 2, 300), process(4, 2, 200)]
    expect(pids(new Victims().choose(processes, need(1000, 900)).victims)).toEqual([3])
    expect(pids(new Victims().choose(processes, need(1000, 600)).victims)).toEqual([3, 4])
  })

  test('do not protect or mark later processes that reuse their pid', () => {
    const victims = new Victims()
    victims.ended(process(3, 2, 400), 0)
    expect(pids(victims.left([process(3, 2, 400), process(4, 2, 1)]))).toEqual([4])
    victims.see([process(4, 2, 1)], 5)
    expect(pids(victims.left([process(3, 2, 1), process(4, 2, 1)]))).toEqual([3, 4])
  })

  test('are pending until their memory is freed', () => {
    const victims = new Victims()
    victims.ended(process(3, 2, 400), 0)
    victims.see([process(3, 2, 400)], 5)
    expect(victims.arePending).toBe(true)
    victims.see([], 6)
    victims.see([], 100)
    expect(victims.arePending).toBe(true)
    victims.see([], 130)
    expect(victims.arePending).toBe(false)
  })

  test('that do not end are not waited for forever', () => {
    const victims = new Victims()
    victims.ended(process(3, 2, 400), 0)
    victims.see([process(3, 2, 400)], 1_001)
    expect(victims.arePending).toBe(false)
  })

  test('that are many and still listed are dying, for ten seconds', () => {
    const victims = new Victims()
    const four = [3, 4, 5, 6].map((pid) => process(pid, 2, 1))
    for (const each of four) victims.ended(each, 0)
    victims.see(four, 9_999)
    expect(victims.areDying(9_999)).toBe(true)
    expect(victims.areDying(10_000)).toBe(false)
    victims.see(four.slice(1), 9_999)
    expect(victims.areDying(9_999)).toBe(false)
  })

  test('are chosen one at a time if the processes do not explain the used memory', () => {
    const victims = new Victims()
    const processes = [process(2, 0, 5), process(3, 2, 6), process(4, 2, 4)]
    const first = victims.choose(processes, need(500, 400))
    expect(pids(first.victims)).toEqual([3])
    victims.ended(first.victims[0]!, 0)
    expect(victims.choose(processes, need(500, 400))).toEqual({ victims: [], unexplained: true })
    victims.chooseAgain()
    expect(victims.choose(processes, need(500, 400)).victims).toHaveLength(1)
  })

  test('include their parent from its fourth ended child on', () => {
    const victims = new Victims()
    for (const pid of [11, 12, 13]) {
      expect(pids(victims.choose([process(5, 0, 1), process(pid, 5, 400)], need(500, 400)).victims)).toEqual([
        pid,
      ])
    }
    expect(pids(victims.choose([process(5, 0, 1), process(14, 5, 400)], need(500, 400)).victims)).toEqual([
      14, 5,
    ])
  })
})
