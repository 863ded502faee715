import { expect, it } from 'vitest'
import { createTurns } from './turns.ts'

it('lets other work of the process run between two turns', async () => {
  const order: string[] = []
  const takeTurn = createTurns()
  const turn = (name: string) =>
    takeTurn(() => {
      order.push(name)
      setImmediate(() => order.push(`after ${name}`))
      return name
    })
  expect(await Promise.all([turn('a'), turn('b'), turn('c')])).toEqual(['a', 'b', 'c'])
  expect(order).toEqual(['a', 'after a', 'b', 'after b', 'c'])
})

it('goes on after a turn that throws', async () => {
  const takeTurn = createTurns()
  const failing = takeTurn(() => {
    throw new Error('no JSON')
  })
  const next = takeTurn(() => 1)
  await expect(failing).rejects.toThrow('no JSON')
  expect(await next).toBe(1)
})
