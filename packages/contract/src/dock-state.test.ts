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

test('every state can be reached from the first', () => {
  const reached = new Set<string>([initialDockState])
  for (const state of reached)
    for (const to of Object.keys(dockTransitions[state as keyof typeof dockTransitions])) reached.add(to)
  expect([...reached].toSorted()).toEqual([...dockStates].toSorted())
})

test('every cause moves something', () => {
  const used = Object.values(dockTransitions).flatMap((to) => Object.values(to).flat())
  expect([...new Set(used)].toSorted()).toEqual([...dockCauses].toSorted())
})

test('a Dock is stopped from ready, idle, running, error, and by force from unreachable', () => {
  expect(dockStates.filter((state) => canMoveDock(state, 'archiving', 'stop'))).toEqual([
    'ready',
    'idle',
    'running',
    'error',
    'unreachable',
  ])
})

test('only an archived Dock is resumed, and nothing skips the start', () => {
  expect(dockStates.filter((state) => canMoveDock(state, 'provisioning', 'resume'))).toEqual(['archived'])
  expect(canMoveDock('archived', 'ready')).toBe(false)
  expect(canMoveDock('ready', 'archived')).toBe(false)
  expect(canMoveDock('ready', 'archiving', 'resume')).toBe(false)
})

test('the filter letters share out all states, each once', () => {
  expect(Object.values(dockFilterStates).flat().toSorted()).toEqual([...dockStates].toSorted())
  expect(statesOfFilter('pp')).toEqual(['provisioning', 'provisioned'])
  expect(statesOfFilter('se')).toEqual(['archived', 'error', 'unreachable'])
})
