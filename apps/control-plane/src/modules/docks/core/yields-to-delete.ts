/**
 * A blocked operation may wait for its host forever: a recovery waits for room in a full pool, a stop waits for a lost
 * host. An operation that removes the Dock's disk may therefore replace it, without its saga's `fail`. Exceptions:
 * - A blocked delete stays, because it removes the disk itself.
 * - An operation that is being retried right now keeps its hold on the Dock.
 * - A branch that has not released its source, and the save of a Template, hold things that only their own end releases.
 *   They do not wait forever: they fail once the host is lost.
 */
import { type RawBuilder, sql } from 'kysely'
import { completeOperationsOfDock, type OperationRow } from '../../../engine/index.ts'

/** SQL predicate: true if `o` is a blocked operation that a delete or forced stop may replace. */
export const yieldsToDelete: RawBuilder<boolean> = sql<boolean>`(o.status = 'blocked'
  and o.kind not in ('delete', 'save-template') and (o.kind <> 'branch' or o.step is not null))`

/** SQL for a claim's CTE `ended`: completes the blocked operation if `given` holds: the claim has changed the Dock. */
export function endYieldingOperation(
  { id, dockId }: OperationRow,
  now: Date,
  given: RawBuilder<boolean>,
): RawBuilder<unknown> {
  const error = { code: 'conflict', message: `Operation ${id} replaced it.` }
  return completeOperationsOfDock(dockId, error, { given: sql<boolean>`${yieldsToDelete} and ${given}`, now })
}
