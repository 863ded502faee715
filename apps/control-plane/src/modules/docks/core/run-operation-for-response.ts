/** Responses of routes that start a long operation, for example a delete or an upgrade. */
import type { Operation } from '@dock/contract'
import type { Clock } from '@dock/foundation'
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
  let cancel: () => void = () => undefined
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(answerWithinMs, resolve)
  })
  // Errors need no handling here: an interrupted operation stays in the table and the runner resumes it.
  await Promise.race([runner.run(operation), late]).finally(cancel)
  const { id, targetType, targetId, status } = operation
  return { id, targetType, targetId, status }
}
