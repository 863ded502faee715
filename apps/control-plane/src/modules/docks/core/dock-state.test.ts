import { dockStates } from '@dock/contract'
import { expect, it } from 'vitest'
import { canStop } from './dock-state.ts'

it('accepts the stop of a ready Dock, and of a failed one only if it keeps its disk', () => {
  const stoppable = (hasDisk: boolean) => dockStates.filter((state) => canStop({ state, hasDisk }))
  expect(stoppable(false)).toEqual(['ready', 'idle', 'running'])
  expect(stoppable(true)).toEqual(['ready', 'idle', 'running', 'error'])
})
