import { expect, it } from 'vitest'
import { batchLookups } from './batch-lookups.ts'

/** A database whose queries the test answers one by one. */
const drivenLoad = () => {
  const queries: {
    keys: string[]
    answer(values: Record<string, string>): void
    fail(error: Error): void
  }[] = []
  const load = (keys: string[]) =>
    new Promise<ReadonlyMap<string, string>>((resolve, reject) => {
      queries.push({ keys, answer: (values) => resolve(new Map(Object.entries(values))), fail: reject })
    })
  return { queries, find: batchLookups(load) }
}
const soon = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

it('combines lookups of the same moment into one query, with each key once', async () => {
  const { queries, find } = drivenLoad()
  const answers = Promise.all([find('a'), find('b'), find('a'), find('none')])
  await soon()
  expect(queries.map(({ keys }) => keys)).toEqual([['a', 'b', 'none']])
  queries[0]!.answer({ a: 'A', b: 'B' })
  expect(await answers).toEqual(['A', 'B', 'A', undefined])
})

it('runs at most two queries at once, and answers each lookup from a query that started after it', async () => {
  const { queries, find } = drivenLoad()
  const first = find('a')
  await soon()
  const second = find('a')
  await soon()
  const third = [find('a'), find('b')]
  await soon()
  expect(queries.map(({ keys }) => keys)).toEqual([['a'], ['a']])
  queries[0]!.answer({ a: 'old' })
  expect(await first).toBe('old')
  await soon()
  expect(queries.map(({ keys }) => keys)).toEqual([['a'], ['a'], ['a', 'b']])
  queries[1]!.answer({ a: 'newer' })
  queries[2]!.answer({ a: 'newest' })
  expect(await second).toBe('newer')
  expect(await Promise.all(third)).toEqual(['newest', undefined])
})

it('rejects all lookups of a failed query, and no later ones', async () => {
  const { queries, find } = drivenLoad()
  const failing = Promise.allSettled([find('a'), find('b')])
  await soon()
  queries[0]!.fail(new Error('away'))
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const next = find('a')
  await soon()
  queries[1]!.answer({ a: 'A' })
  expect(await next).toBe('A')
})

it('splits many lookups into several queries', async () => {
  const { queries, find } = drivenLoad()
  const keys = Array.from({ length: 700 }, (_, index) => String(index))
  const answers = Promise.all(keys.map(find))
  await soon()
  await soon()
  expect(queries.map((query) => query.keys.length)).toEqual([500, 200])
  for (const query of queries) query.answer(Object.fromEntries(query.keys.map((key) => [key, `v${key}`])))
  expect(await answers).toEqual(keys.map((key) => `v${key}`))
})
