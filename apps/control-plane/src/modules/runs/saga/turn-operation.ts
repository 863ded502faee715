/** The operation that carries out one turn of a Run. It is saved with the turn, and any process takes it. */
import { newOperationId } from '@dock/foundation'
import type { RawBuilder } from 'kysely'
import { insertOperation, type OperationRow } from '../../../engine/index.ts'
import type { TurnData } from './turn-data.ts'

export const turnKind = 'run-turn'

/** SQL that inserts the operation if the relation `from` has a row. */
export function insertTurnOperation(
  {
    runId,
    organizationId,
    turnId,
    turn,
  }: { runId: string; organizationId: string; turnId: string; turn: number },
  from: RawBuilder<unknown>,
  now: Date,
): RawBuilder<unknown> {
  const operation: OperationRow<TurnData> = {
    id: newOperationId(),
    organizationId,
    kind: turnKind,
    targetType: 'run',
    targetId: runId,
    dockId: null,
    hostId: null,
    generation: 0,
    status: 'pending',
    step: null,
    undoing: false,
    error: null,
    data: {
      dataVersion: 1,
      turnId,
      turn,
      testsPassed: null,
      pullRequest: null,
      headCommit: null,
      outcome: null,
    },
    cause: { by: `run:${runId}`, through: 'timer', why: 'run' },
  }
  return insertOperation(operation, { from, lease: null, now })
}
