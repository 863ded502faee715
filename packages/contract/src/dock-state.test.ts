import { expect, test } from 'vitest'
import {
  canMoveDock,
  dockCauses,
  dockFilterStates,
  dockStates,
  dockTransitions,
  initialDockState,
  statesOfFilter,
} from './dock-state.ts'

test('every state is reachable from the initial state', () => {
  const reached = new Set<string>([initialDockState])
  for (const state of reached)
    for (const to of Object.keys(dockTransitions[state as keyof typeof dockTransitions])) reached.add(to)
  expect([...reached].toSorted()).toEqual([...dockStates].toSorted())
})

test('every cause is used by a transition', () => {
  const used = Object.values(dockTransitions).flatMap((to) => Object.values(to).flat())
  expect([...new Set(used)].toSorted()).toEqual([...dockCauses].toSorted())
})

test('a Dock can be stopped from ready, idle, running, error, and with force from unreachable', () => {
  expect(dockStates.filter((state) => canMoveDock(state, 'archiving', 'stop'))).toEqual([
    'ready',
    'idle',
    'running',
    'error',
    'unreachable',
  ])
})

test('only an archived Dock can be resumed, and no transition skips provisioning or archiving', () => {
  expect(dockStates.filter((state) => canMoveDock(state, 'provisioning', 'resume'))).toEqual(['archived'])
  expect(canMoveDock('archived', 'ready')).toBe(false)
  expect(canMoveDock('ready', 'archived')).toBe(false)
  expect(canMoveDock('ready', 'archiving', 'resume')).toBe(false)
})

test('the filter letters cover every state exactly once', () => {
  expect(Object.values(dockFilterStates).flat().toSorted()).toEqual([...dockStates].toSorted())
  expect(statesOfFilter('pp')).toEqual(['provisioning', 'provisioned'])
  expect(statesOfFilter('se')).toEqual(['archived', 'error', 'unreachable'])
})
