/** Two tabs of one browser: each has its own queries, and one of them holds the stream. */
import { QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ThoroughQueryClient } from './thorough-query-client.ts'

/** The browser's EventSource. The test plays the service. */
class Stream extends EventTarget {
  static readonly OPEN = 1
  static readonly CLOSED = 2
  readyState = Stream.OPEN
  readonly url: string
  constructor(url: string) {
    super()
    this.url = url
    opened.push(this)
  }
  say(type: string, data: unknown = {}, lastEventId = '5:5:'): void {
    this.dispatchEvent(new MessageEvent(type, { data: JSON.stringify(data), lastEventId }))
  }
  close(): void {
    this.readyState = Stream.CLOSED
  }
}
let opened: Stream[]
let tabs: (() => void)[]

beforeEach(() => {
  vi.stubGlobal('location', { origin: 'http://localhost' })
  vi.stubGlobal('EventSource', Stream)
  opened = []
  tabs = []
})
afterEach(() => {
  for (const close of tabs) close()
  vi.unstubAllGlobals()
})

/**
 * Opens a tab. `again` returns the first parts of the keys that it has read again, without reads that had failed; undefined
 * stands for everything.
 */
const openTab = async () => {
  const { followChanges } = await import('./live.ts')
  const client = new ThoroughQueryClient()
  const read = vi.spyOn(client, 'invalidateQueries').mockResolvedValue()
  const states: boolean[] = []
  tabs.push(followChanges(client, (isConnected) => states.push(isConnected)))
  return {
    close: tabs.at(-1)!,
    again: () =>
      read.mock.calls
        .filter(([filters]) => filters?.predicate === undefined)
        .map(([filters]) => filters?.queryKey?.[0]),
    states,
  }
}
const stream = async (at: number): Promise<Stream> => {
  await vi.waitFor(() => expect(opened).toHaveLength(at + 1))
  return opened[at]!
}

it('reads again what a tab read before it joined the others', async () => {
  const first = await openTab()
  ;(await stream(0)).say('ready')
  expect(first.again()).toEqual([undefined])
  const second = await openTab()
  await vi.waitFor(() => expect(second.again()).toEqual([undefined]))
  expect(second.states).toEqual([true])
  expect(first.again()).toEqual([undefined])
})

it('hands changes to a tab that does not hold the stream, which goes on with it later', async () => {
  const first = await openTab()
  const held = await stream(0)
  held.say('ready')
  const second = await openTab()
  await vi.waitFor(() => expect(second.again()).toEqual([undefined]))
  held.say('changes', [{ kind: 'template', id: 'one' }], '7:7:')
  await vi.waitFor(() => expect(second.again()).toEqual([undefined, 'template']))
  first.close()
  expect((await stream(1)).url).toBe('/api/live?cursor=7%3A7%3A')
})

it('tells a tab nothing until the stream has returned', async () => {
  await openTab()
  const held = await stream(0)
  held.say('ready')
  held.readyState = 0
  const second = await openTab()
  held.say('error')
  await vi.waitFor(() => expect(second.states).toEqual([false]))
  expect(second.again()).toEqual([])
  held.readyState = Stream.OPEN
  held.say('resumed')
  await vi.waitFor(() => expect(second.states).toEqual([false, true]))
  expect(second.again()).toEqual([undefined])
})

it('reads again what could not be read while the service was away', async () => {
  const { followChanges } = await import('./live.ts')
  const client = new ThoroughQueryClient({ defaultOptions: { queries: { retry: false } } })
  tabs.push(followChanges(client, () => undefined))
  const held = await stream(0)
  held.say('ready')
  const read = vi.fn().mockResolvedValueOnce('old').mockRejectedValueOnce(new Error('away'))
  read.mockResolvedValue('new')
  const kept = vi.fn().mockResolvedValue('kept')
  const options = { staleTime: Number.POSITIVE_INFINITY }
  const shown = new QueryObserver<string>(client, { queryKey: ['template'], queryFn: read, ...options })
  const other = new QueryObserver<string>(client, { queryKey: ['host'], queryFn: kept, ...options })
  tabs.push(
    shown.subscribe(() => undefined),
    other.subscribe(() => undefined),
  )
  await vi.waitFor(() => expect([shown.getCurrentResult().data, kept.mock.calls.length]).toEqual(['old', 1]))
  held.say('changes', [{ kind: 'template', id: 'one' }])
  await vi.waitFor(() => expect(shown.getCurrentResult().isError).toBe(true))
  held.say('error')
  held.say('resumed')
  await vi.waitFor(() => expect(shown.getCurrentResult()).toMatchObject({ data: 'new', isError: false }))
  expect(kept).toHaveBeenCalledTimes(1)
})
