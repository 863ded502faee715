/** The guard in front of every change of state: a move that the contract's table does not hold is a defect. */
import { canMoveDock, type DockCause, type DockState } from '@dock/contract'

export type DockMove = { from: DockState | null; to: DockState; why: DockCause | 'create' | 'branch' }

/** A chain of moves made in one transaction. Throws when one of them is not in the table. */
export function checkedMoves(moves: readonly DockMove[]): readonly DockMove[] {
  for (const { from, to, why } of moves) {
    const birth = from === null && to === 'provisioning' && (why === 'create' || why === 'branch')
    const allowed = from !== null && why !== 'create' && why !== 'branch' && canMoveDock(from, to, why)
    if (!birth && !allowed) throw new Error(`no Dock moves from ${from} to ${to} because of ${why}`)
  }
  return moves
}

/** States out of which a caller or the ttl may stop a Dock that has a runtime. */
export const stoppableStates: readonly DockState[] = ['ready', 'idle', 'running']

/** States of a Dock that has no machine. */
export const standingStates: readonly DockState[] = ['archived', 'error']
