import { beforeEach, expect, test } from 'vitest'
import { BackgroundBoots, stillMs } from './background-boots.ts'

let now: number
let timers: { at: number; callback: () => void }[]
let boots: BackgroundBoots
const clock = {
  now: () => new Date(now),
  after: (delayMs: number, callback: () => void) => {
    timers.push({ at: now + delayMs, callback })
    return () => undefined
  },
}
const pass = (ms: number): void => {
  now += ms
  const due = timers.filter(({ at }) => at <= now)
  timers = timers.filter(({ at }) => at > now)
  for (const { callback } of due) callback()
}
const group = () => {
  const said: string[] = []
  return { said, orderFreeze: () => void said.push('freeze'), thaw: () => void said.push('thaw') }
}
beforeEach(() => {
  ;[now, timers] = [1_000, []]
  boots = new BackgroundBoots(clock)
})

test('a boot stands still for a moment, and goes on for as long before it does so again', () => {
  const one = group()
  boots.begin(one)
  boots.standStill()
  boots.standStill()
  expect(one.said).toEqual(['freeze'])
  pass(stillMs)
  expect(one.said).toEqual(['freeze', 'thaw'])
  boots.standStill()
  expect(one.said).toHaveLength(2)
  pass(stillMs)
  boots.standStill()
  expect(one.said).toEqual(['freeze', 'thaw', 'freeze'])
})

test('one that is over goes on at once and is left alone then, since it may be frozen for another reason', () => {
  const one = group()
  const isOver = boots.begin(one)
  boots.standStill()
  isOver()
  isOver()
  expect(one.said).toEqual(['freeze', 'thaw'])
  pass(stillMs)
  pass(stillMs)
  boots.standStill()
  expect(one.said).toHaveLength(2)
})

test('a group that is not there yet keeps nothing else from standing still', () => {
  const one = group()
  const broken = () => {
    throw new Error('ENOENT')
  }
  boots.begin({ orderFreeze: broken, thaw: broken })
  boots.begin(one)
  boots.standStill()
  pass(stillMs)
  expect(one.said).toEqual(['freeze', 'thaw'])
})
