import { expect, test } from 'vitest'
import { BootQueue } from './boot-queue.ts'

/** Boots that the test ends, and the order in which they began. */
const createBoots = (queue: BootQueue) => {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const boot = (name: string) => async () => {
    begun.push(name)
    await new Promise<void>((resolve) => ends.set(name, resolve))
    return name
  }
  return {
    begun,
    run: (name: string) => queue.run(boot(name)),
    end: (name: string) => ends.get(name)?.(),
  }
}

test('no more than the limit boot at once, in order of arrival', async () => {
  const boots = createBoots(new BootQueue(2))
  const [a, b, c] = [boots.run('a'), boots.run('b'), boots.run('c')]
  const d = boots.run('d')
  expect(boots.begun).toEqual(['a', 'b'])
  boots.end('b')
  await b
  await expect.poll(() => boots.begun).toEqual(['a', 'b', 'c'])
  boots.end('c')
  await c
  await expect.poll(() => boots.begun).toEqual(['a', 'b', 'c', 'd'])
  boots.end('a')
  boots.end('d')
  expect(await Promise.all([a, d])).toEqual(['a', 'd'])
})

test('a boot that fails frees its slot', async () => {
  const queue = new BootQueue(1)
  await expect(queue.run(() => Promise.reject(new Error('no boot')))).rejects.toThrow('no boot')
  expect(await queue.run(async () => 'next')).toBe('next')
  expect(queue.isCalm).toBe(true)
})

test('is calm, and notifies listeners, when no boot runs or waits', async () => {
  const queue = new BootQueue(1)
  const boots = createBoots(queue)
  const calm: boolean[] = []
  queue.onCalm(() => calm.push(queue.isCalm))
  expect(queue.isCalm).toBe(true)
  const [first, second] = [boots.run('first'), boots.run('second')]
  expect(queue.isCalm).toBe(false)
  boots.end('first')
  await first
  await expect.poll(() => boots.begun).toEqual(['first', 'second'])
  expect(calm).toEqual([])
  boots.end('second')
  await second
  expect(calm).toEqual([true])
})
