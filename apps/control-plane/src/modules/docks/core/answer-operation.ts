/** What the routes answer that only begin something: the operation, as far as it has come in a moment. */
import type { Operation } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { OperationRow, OperationRunner } from '../../../engine/index.ts'

/** How long an answer waits for what is as good as done. */
const answerWithinMs = 5_000

/** Runs an operation that was saved with this process's lease, and answers it done or under way. */
export async function answerOperation(
  { clock, runner }: { clock: Clock; runner: OperationRunner },
  operation: OperationRow,
): Promise<Operation> {
  let cancel: () => void = () => undefined
  const late = new Promise<void>((resolve) => {
    cancel = clock.after(answerWithinMs, resolve)
  })
  // An interrupted run stays in the table and is taken up again: the answer only tells how far it is.
  await Promise.race([runner.run(operation), late]).finally(cancel)
  const { id, targetType, targetId, status } = operation
  return { id, targetType, targetId, status }
}
