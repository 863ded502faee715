/** Responses of routes that start a long operation, for example a delete or an upgrade. */
import type { Operation } from '@dock/contract'
import { type Clock, waitAtMost } from '@dock/foundation'
import type { OperationRow, OperationRunner } from '../../../engine/index.ts'

/** How long a response waits for the operation to complete. */
const answerWithinMs = 5_000

/**
 * Runs an operation whose lease this process holds. Returns its status when it completes or after 5 seconds, whichever
 * comes first. An operation that takes longer continues in the background.
 */
export async function runOperationForResponse(
  { clock, runner }: { clock: Clock; runner: OperationRunner },
  operation: OperationRow,
): Promise<Operation> {
  // Errors need no handling here: an interrupted operation stays in the table and the runner resumes it.
  await waitAtMost(clock, answerWithinMs, runner.run(operation))
  const { id, targetType, targetId, status } = operation
  if (targetType === 'run') throw new Error('operations of Runs are not shown')
  return { id, targetType, targetId, status }
}
