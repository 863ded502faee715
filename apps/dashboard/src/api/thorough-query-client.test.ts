import { QueryObserver } from '@tanstack/react-query'
import { afterEach, expect, it, vi } from 'vitest'
import { ThoroughQueryClient } from './thorough-query-client.ts'

const client = new ThoroughQueryClient()
afterEach(() => client.clear())

/** A query whose reads end when the test says so. */
const controlled = (queryKey: readonly string[]) => {
  const reads: PromiseWithResolvers<string>[] = []
  const queryFn = () => {
    const read = Promise.withResolvers<string>()
    reads.push(read)
    return read.promise
  }
  const observer = new QueryObserver(client, { queryKey, queryFn, retry: false })
  return { reads, observer, shown: () => client.getQueryData(queryKey) }
}

it.each([
  ['began before a change', (read: PromiseWithResolvers<string>) => read.resolve('old')],
  ['failed', (read: PromiseWithResolvers<string>) => read.reject(new Error('the server was away'))],
])('reads again after a first read that %s', async (_, end) => {
  const { reads, observer, shown } = controlled(['dock', 'one'])
  const leave = observer.subscribe(() => undefined)
  const done = client.invalidateQueries({ queryKey: ['dock'] })
  expect(reads).toHaveLength(1)
  end(reads[0]!)
  await vi.waitFor(() => expect(reads).toHaveLength(2))
  reads[1]!.resolve('new')
  await done
  expect(shown()).toBe('new')
  leave()
})

it('reads what nobody shows any more when it is shown again', async () => {
  const { reads, observer, shown } = controlled(['dock', 'one'])
  observer.subscribe(() => undefined)()
  const done = client.invalidateQueries({ queryKey: ['dock'] })
  reads[0]!.resolve('old')
  await vi.waitFor(() => expect(shown()).toBe('old'))
  await done
  expect(reads).toHaveLength(1)
  expect(client.getQueryState(['dock', 'one'])?.isInvalidated).toBe(true)
})

it('begins a later read at once, and leaves other queries alone', async () => {
  const { reads, observer } = controlled(['dock', 'one'])
  const leave = observer.subscribe(() => undefined)
  reads[0]!.resolve('old')
  await vi.waitFor(() => expect(observer.getCurrentResult().isSuccess).toBe(true))
  await client.invalidateQueries({ queryKey: ['host'] })
  expect(reads).toHaveLength(1)
  const done = client.invalidateQueries({ queryKey: ['dock'] })
  expect(reads).toHaveLength(2)
  reads[1]!.resolve('new')
  await done
  expect(reads).toHaveLength(2)
  leave()
})
