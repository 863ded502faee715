/**
 * A long change as named steps, each with do and undo. A step's completion is durable before the next step begins.
 * `finish` and `fail` complete the operation in the same transaction as the change that they publish, so the last step
 * needs no record of its own. After a crash a step may run twice; that is harmless, because commands to hosts carry the
 * operation id and the Dock's generation.
 */
import { faultPoint } from '@dock/foundation'
import type * as z from 'zod'
import type { OperationError, OperationRow } from './operation.ts'
import { readData, type VersionedData } from './operation-data.ts'

export type SagaStep<Data = unknown> = {
  name: string
  /** Returns false if this operation does not need the step. The step is then skipped without a record. */
  isNeeded?(operation: OperationRow<Data>): boolean
  do(operation: OperationRow<Data>): Promise<void>
  /** Omitted if the step leaves nothing behind or `fail` cleans up. Must be idempotent. */
  undo?(operation: OperationRow<Data>): Promise<void>
}

export type Saga<Data extends VersionedData = VersionedData, Result = unknown> = {
  kind: string
  /** Schema of what the operation keeps in its row. It also accepts what former versions of the control plane saved. */
  data: z.ZodType<Data>
  steps: readonly SagaStep<Data>[]
  /** Publishes success and completes the operation, in one transaction. */
  finish(operation: OperationRow<Data, Result>): Promise<void>
  /** Publishes failure and completes the operation with `error`, in one transaction. */
  fail(operation: OperationRow<Data, Result>, error: OperationError): Promise<void>
  /** Returns the public code and message for a step's failure. */
  explain(error: unknown): OperationError
}

/** Thrown by a step that must wait for a host to reconnect. The operation becomes `blocked`. */
export class OperationBlocked extends Error {
  override readonly name = 'OperationBlocked'
  readonly waitsFor: string
  constructor(waitsFor: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.waitsFor = waitsFor
  }
}

/** Saves a saga's progress durably. Each method throws LeaseLost if another process has taken the lease. */
export type SagaRecords = {
  recordStep(operation: OperationRow): Promise<void>
  /** `cause` is what the step `step` threw: the operation keeps only what callers may read of it. */
  recordUndoing(operation: OperationRow, step: string, cause: unknown): Promise<void>
  recordBlocked(operation: OperationRow): Promise<void>
}

/**
 * Parses an operation's data and runs it from its last recorded step until it completes or is blocked. Returns the
 * failure, or null if there is none. Rejects if the data is invalid, before any step runs, and if `finish`, `fail`, an
 * undo or a record throws.
 */
export async function runSaga<Data extends VersionedData, Result>(
  saga: Saga<Data, Result>,
  row: OperationRow<unknown, Result>,
  records: SagaRecords,
): Promise<OperationError | null> {
  const operation = readData(saga.data, row)
  const at = (step: string, when: 'before' | 'after'): void => faultPoint(`saga:${saga.kind}:${step}:${when}`)
  const done = saga.steps.findIndex((step) => step.name === operation.step)
  const nextAfter = (position: number): number =>
    saga.steps.findIndex((step, each) => each > position && step.isNeeded?.(operation) !== false)
  let index = done + 1
  if (!operation.undoing) {
    try {
      for (let next = nextAfter(done); next >= 0; ) {
        index = next
        const step = saga.steps[index]!
        at(step.name, 'before')
        await step.do(operation)
        operation.step = step.name
        next = nextAfter(index)
        if (next >= 0) await records.recordStep(operation)
        at(step.name, 'after')
      }
    } catch (error) {
      if (error instanceof OperationBlocked) {
        operation.status = 'blocked'
        operation.waitsFor = error.waitsFor
        await records.recordBlocked(operation)
        return null
      }
      operation.error = saga.explain(error)
      operation.undoing = true
      await records.recordUndoing(operation, saga.steps[index]?.name ?? '', error)
    }
  }
  if (!operation.undoing) {
    at('finish', 'before')
    await saga.finish(operation)
    operation.status = 'completed'
    at('finish', 'after')
    return null
  }
  // The failed step may have completed in part, so it is undone too.
  for (let back = Math.min(index, saga.steps.length - 1); back >= 0; back--) {
    const step = saga.steps[back]!
    at(`undo-${step.name}`, 'before')
    await step.undo?.(operation)
    at(`undo-${step.name}`, 'after')
  }
  const error = operation.error ?? { code: 'service_unavailable', message: 'The operation failed.' }
  await saga.fail(operation, error)
  operation.status = 'completed'
  return error
}
