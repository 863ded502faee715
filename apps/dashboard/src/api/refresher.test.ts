import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createRefresher, type LiveKind } from './refresher.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const changes = (...kinds: LiveKind[]) => kinds.map((kind) => ({ kind, id: `${kind}-1` }))

/** A refresher whose reads end when the test says so. */
const controlled = () => {
  const reads: { key: string; ids: string[]; end: () => void }[] = []
  const refresher = createRefresher(
    (key, ids) =>
      new Promise((resolve) => {
        reads.push({ key, ids: [...ids], end: () => resolve(undefined) })
      }),
  )
  return { refresher, reads, keys: () => reads.map(({ key }) => key) }
}

it('reads once for changes that come together, and a member with its organization', async () => {
  const { refresher, keys } = controlled()
  refresher.notice(changes('dock', 'member'))
  refresher.notice(changes('dock', 'organization'))
  expect(keys()).toEqual([])
  await vi.advanceTimersByTimeAsync(100)
  expect(keys()).toEqual(['dock', 'organization'])
})

it('ends a read before the next one, and reads once more for all changes that came meanwhile', async () => {
  const { refresher, reads, keys } = controlled()
  refresher.notice(changes('dock'))
  await vi.advanceTimersByTimeAsync(100)
  for (let change = 0; change < 50; change++) {
    refresher.notice([{ kind: 'dock', id: `dock-${change % 3}` }])
    await vi.advanceTimersByTimeAsync(20)
  }
  expect(keys()).toEqual(['dock'])
  reads[0]!.end()
  await vi.advanceTimersByTimeAsync(100)
  expect(keys()).toEqual(['dock', 'dock'])
  expect(reads[1]!.ids).toEqual(['dock-0', 'dock-1', 'dock-2'])
  reads[1]!.end()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(keys()).toHaveLength(2)
})

it('goes on after a read that failed', async () => {
  const refresh = vi.fn().mockRejectedValue(new Error('the connection broke'))
  const refresher = createRefresher(refresh)
  refresher.notice(changes('dock'))
  await vi.advanceTimersByTimeAsync(100)
  refresher.notice(changes('dock'))
  await vi.advanceTimersByTimeAsync(100)
  expect(refresh).toHaveBeenCalledTimes(2)
})

it('reads nothing after its end', async () => {
  const { refresher, reads, keys } = controlled()
  refresher.notice(changes('dock'))
  await vi.advanceTimersByTimeAsync(100)
  refresher.notice(changes('dock', 'host'))
  refresher.stop()
  reads[0]!.end()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(keys()).toEqual(['dock'])
})
