import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { beforeEach, expect, test } from 'vitest'
import { BackgroundBoots, pauseMs } from './background-boots.ts'

let clock: VirtualClock
let boots: BackgroundBoots
const group = () => {
  const orders: string[] = []
  return { orders, orderFreeze: () => void orders.push('freeze'), thaw: () => void orders.push('thaw') }
}
beforeEach(() => {
  clock = createVirtualClock()
  boots = new BackgroundBoots(clock)
})

test('a boot is paused, and then runs at least as long before the next pause', () => {
  const boot = group()
  boots.begin(boot)
  boots.pauseAll()
  boots.pauseAll()
  expect(boot.orders).toEqual(['freeze'])
  clock.advance(pauseMs)
  expect(boot.orders).toEqual(['freeze', 'thaw'])
  boots.pauseAll()
  expect(boot.orders).toHaveLength(2)
  clock.advance(pauseMs)
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
  clock.advance(pauseMs)
  clock.advance(pauseMs)
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
  clock.advance(pauseMs)
  expect(boot.orders).toEqual(['freeze', 'thaw'])
})
