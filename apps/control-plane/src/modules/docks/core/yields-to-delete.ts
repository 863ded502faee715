/**
 * A blocked operation may wait for its host forever: a recovery waits for room in a full pool, a stop waits for a lost
 * host. An operation that removes the Dock's disk may therefore replace it. Two exceptions: a blocked delete stays,
 * because it removes the disk itself, and an operation that is being retried right now keeps its hold on the Dock.
 */
import { type RawBuilder, sql } from 'kysely'
import { completeOperationsOfDock, type OperationRow } from '../../../engine/index.ts'

/** SQL predicate: true if `o` is blocked (a recover or a stop, but no delete), so that a delete or forced stop may replace it. */
export const yieldsToDelete: RawBuilder<boolean> = sql<boolean>`(o.kind <> 'delete' and o.status = 'blocked')`

/** SQL for a claim's CTE `ended`: completes the blocked operation if `given` holds: the claim has changed the Dock. */
export function endYieldingOperation(
  { id, dockId }: OperationRow,
  now: Date,
  given: RawBuilder<boolean>,
): RawBuilder<unknown> {
  const error = { code: 'conflict', message: `Operation ${id} replaced it.` }
  return completeOperationsOfDock(dockId, error, { given: sql<boolean>`${yieldsToDelete} and ${given}`, now })
}
