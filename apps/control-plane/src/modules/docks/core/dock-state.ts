/** Checks every change of a Dock's state against the transition table in the contract. */
import { canMoveDock, type DockCause, type DockState } from '@dock/contract'

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

/** States from which a caller or the ttl may stop a Dock. */
export const stoppableStates: readonly DockState[] = ['ready', 'idle', 'running']

/** States in which a Dock has no runtime. */
export const statesWithoutRuntime: readonly DockState[] = ['archived', 'error']
