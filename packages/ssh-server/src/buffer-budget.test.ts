import { expect, it } from 'vitest'
import { createBufferBudget } from './buffer-budget.ts'

it('bounds what all connections of a person have together, and of nobody else', () => {
  const budget = createBufferBudget(100)
  const waiting = { one: 60, other: 60 }
  const one = budget.join('ann', () => waiting.one)
  const other = one.another(() => waiting.other)
  expect(one.note()).toBe(false)
  expect(other.note()).toBe(true)
  expect(one.note()).toBe(true)
  expect(budget.join('bob', () => 60).note()).toBe(false)
  waiting.one = 10
  expect(other.note()).toBe(false)
  waiting.one = 60
  expect(one.note()).toBe(true)
  one.leave()
  expect(other.note()).toBe(false)
})

it('forgets a person whose connections have closed', () => {
  const budget = createBufferBudget(100)
  const share = budget.join('ann', () => 200)
  expect(share.note()).toBe(true)
  share.leave()
  share.leave()
  expect(share.note()).toBe(false)
  expect(budget.join('ann', () => 90).note()).toBe(false)
})
