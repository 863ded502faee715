/** Checks every change of a Dock's state against the transition table in the contract, and names sets of states. */
import {
  canMoveDock,
  type DockCause,
  type DockState,
  isReadyDockState,
  readyDockStates,
  stoppableDockStates,
} from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'

export type DockMove = { from: DockState | null; to: DockState; why: DockCause | 'create' | 'branch' }

/** Returns the moves of one transaction unchanged. Throws if the transition table does not contain one: that is a bug. */
export function checkedMoves(moves: readonly DockMove[]): readonly DockMove[] {
  for (const { from, to, why } of moves) {
    const birth = from === null && to === 'provisioning' && (why === 'create' || why === 'branch')
    const allowed = from !== null && why !== 'create' && why !== 'branch' && canMoveDock(from, to, why)
    if (!birth && !allowed)
      throw new Error(`the transition table has no move from ${from} to ${to} for ${why}`)
  }
  return moves
}

const literals = (states: readonly DockState[]): RawBuilder<unknown> =>
  sql.join(states.map((state) => sql.lit(state)))

/** SQL list of the ready states, for `state in (…)`. */
export const readyStates: RawBuilder<unknown> = literals(readyDockStates)

/**
 * True if a stop is accepted without force. In `error` only a Dock that keeps its disk can be stopped: the stop saves the
 * disk.
 */
export function canStop({ state, hasDisk }: { state: DockState; hasDisk: boolean }): boolean {
  return isReadyDockState(state) || (hasDisk && stoppableDockStates.includes(state))
}

/** States in which a Dock has no runtime. */
export const statesWithoutRuntime: readonly DockState[] = ['archived', 'error']
/** SQL list of {@link statesWithoutRuntime}. */
export const statesWithoutRuntimeList: RawBuilder<unknown> = literals(statesWithoutRuntime)
