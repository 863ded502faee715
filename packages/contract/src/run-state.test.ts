import { expect, test } from 'vitest'
import { runStates } from './objects/runs.ts'
import { liveRunStates, runStatesBefore, runTransitions } from './run-state.ts'

test('every state is reachable from pending, and final states stay', () => {
  const reached = new Set<string>(['pending'])
  for (const state of reached)
    for (const to of Object.keys(runTransitions[state as keyof typeof runTransitions])) reached.add(to)
  expect([...reached].toSorted()).toEqual([...runStates].toSorted())
  expect(liveRunStates).toEqual(['pending', 'provisioning', 'working', 'pr_opened'])
})

test('a failure or a stop is possible while a machine is wanted or used', () => {
  expect(runStatesBefore('failed', 'failure')).toEqual(['pending', 'provisioning', 'working'])
  expect(runStatesBefore('stopped', 'stop')).toEqual(['pending', 'provisioning', 'working', 'pr_opened'])
  expect(runStatesBefore('working', 'feedback')).toEqual(['pr_opened'])
})
