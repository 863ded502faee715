import { beforeEach, expect, test } from 'vitest'
import { BackgroundBoots, pauseMs } from './background-boots.ts'

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
  const orders: string[] = []
  return { orders, orderFreeze: () => void orders.push('freeze'), thaw: () => void orders.push('thaw') }
}
beforeEach(() => {
  ;[now, timers] = [1_000, []]
  boots = new BackgroundBoots(clock)
})

test('a boot is paused, and then runs at least as long before the next pause', () => {
  const boot = group()
  boots.begin(boot)
  boots.pauseAll()
  boots.pauseAll()
  expect(boot.orders).toEqual(['freeze'])
  pass(pauseMs)
  expect(boot.orders).toEqual(['freeze', 'thaw'])
  boots.pauseAll()
  expect(boot.orders).toHaveLength(2)
  pass(pauseMs)
  boots.pauseAll()
  expect(boot.orders).toEqual(['freeze', 'thaw', 'freeze'])
})

test('a finished boot is thawed at once and never again, because it may be frozen for another reason', () => {
  const boot = group()
  const isOver = boots.begin(boot)
  boots.pauseAll()
  isOver()
  isOver()
  expect(boot.orders).toEqual(['freeze', 'thaw'])
  pass(pauseMs)
  pass(pauseMs)
  boots.pauseAll()
  expect(boot.orders).toHaveLength(2)
})

test('a boot without a control group does not prevent the others from being paused', () => {
  const boot = group()
  const broken = () => {
    throw new Error('ENOENT')
  }
  boots.begin({ orderFreeze: broken, thaw: broken })
  boots.begin(boot)
  boots.pauseAll()
  pass(pauseMs)
  expect(boot.orders).toEqual(['freeze', 'thaw'])
})
