import { expect, it } from 'vitest'
import { canResume, canStop, isReady } from './dock-states.ts'

it('a Dock that failed can be stopped, which saves its disk', () => {
  expect([canStop('error'), isReady('error'), canResume('error')]).toEqual([true, false, false])
})

it('nothing is offered that the service would refuse', () => {
  expect(
    ['provisioning', 'archiving', 'archived', 'unreachable'].map((state) => canStop(state as 'ready')),
  ).toEqual([false, false, false, false])
  expect([canResume('archived'), canResume('ready')]).toEqual([true, false])
})
