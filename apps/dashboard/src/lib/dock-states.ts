/** What can be done with a Dock in which state, by the table of the contract. */
import type { DockInfo } from '@dock/sdk'
import {
  dockWords,
  readyDockStates,
  resumableDockStates,
  stoppableDockStates,
} from '@dock/sdk/dashboard-rules'

type State = DockInfo['state']

const isIn = (states: readonly State[], state: State): boolean => states.includes(state)

/** Returns the word for a state, as docs/states.md has it. */
export function wordOf(state: State): (typeof dockWords)[State] {
  return dockWords[state]
}

/** True if the Dock takes commands. */
export function isReady(state: State): boolean {
  return isIn(readyDockStates, state)
}

export function canStop(state: State): boolean {
  return isIn(stoppableDockStates, state)
}

export function canResume(state: State): boolean {
  return isIn(resumableDockStates, state)
}
