import { MutationObserver } from '@tanstack/react-query'
import { expect, it, vi } from 'vitest'

vi.stubGlobal('location', { origin: 'http://dock.test' })
const { queryClient } = await import('./query-client.ts')

it('says that an action is pending before anything else can happen, such as a second click', async () => {
  const action = new MutationObserver(queryClient, { mutationFn: () => new Promise(() => {}) })
  const seen: string[] = []
  const stop = action.subscribe(({ status }) => seen.push(status))
  let isLater = false
  setImmediate(() => {
    isLater = true
  })
  void action.mutate()
  for (let turn = 0; turn < 10 && seen.length === 0; turn += 1) await Promise.resolve()
  expect(seen).toContain('pending')
  expect(isLater).toBe(false)
  stop()
})
