import { expect, it } from 'vitest'
import { createBudgetGate } from './budget-gate.ts'

const setUp = (budget: number) => {
  const gate = createBudgetGate()
  const spent = { amount: 0 }
  const enter = (costMicroUsd: number, signal = new AbortController().signal, runId = 'run') =>
    gate.enter({ runId, costMicroUsd, readLeft: async () => budget - spent.amount, signal })
  return { spent, enter }
}
/** Returns true if the promise is settled once everything that can go on has gone on. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  let settled = false
  void promise.finally(() => {
    settled = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  return settled
}

it('admits requests at the same time as long as they fit together', async () => {
  const { enter } = setUp(100)
  await enter(40)
  await enter(40)
  const third = enter(40)
  expect(await isSettled(third)).toBe(false)
  expect(await enter(40, undefined, 'another run')).not.toBeNull()
})

it('lets a request wait for the cost of those before it', async () => {
  const { spent, enter } = setUp(100)
  const leave = await enter(80)
  const [second, third] = [enter(80), enter(80)]
  expect(await isSettled(second)).toBe(false)
  spent.amount = 30
  leave!()
  const leaveSecond = await second
  expect(leaveSecond).not.toBeNull()
  expect(await isSettled(third)).toBe(false)
  spent.amount = 110
  leaveSecond!()
  expect(await third).toBeNull()
})

it('admits one request that may cost more than is left', async () => {
  const { enter } = setUp(1)
  expect(await enter(1_000)).not.toBeNull()
})

it('never admits two requests because their readings crossed', async () => {
  const { spent, enter } = setUp(100)
  const admitted = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const leave = await enter(60)
      if (!leave) return false
      await new Promise((resolve) => setImmediate(resolve))
      spent.amount += 60
      leave()
      return true
    }),
  )
  expect(admitted.filter(Boolean)).toHaveLength(2)
})

it('forgets a request that nobody waits for any more', async () => {
  const { enter } = setUp(100)
  await enter(100)
  const controller = new AbortController()
  const second = enter(100, controller.signal)
  expect(await isSettled(second)).toBe(false)
  controller.abort()
  expect(await second).toBeNull()
})
