/**
 * Runs operations: one saved by this process at once, one that waits for a taker as soon as a notice wakes this process,
 * one whose lease ran out within a second. A lease is renewed while its saga runs, so that a process that dies or hangs
 * loses it and another goes on from the last record.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../database/database.ts'
import type { OperationError, OperationRow } from './operation.ts'
import { endLeasesOfOthers, LeaseLost, recordProgress, renewLeases, takeDue } from './operation-store.ts'
import { runSaga, type Saga, type SagaRecords } from './saga.ts'
import { createTimers } from './timers.ts'

const leaseMs = 15_000
const renewMs = 5_000
const sweepMs = 1_000
const retryMs = 3_000
const batch = 20

const interrupted: OperationError = {
  code: 'service_unavailable',
  message: 'This was interrupted and goes on by itself. Read the Dock to see how it ends.',
}

export type OperationRunner = {
  /** What is written with a new operation, so that it is this process's from the first moment. */
  lease(): { owner: string; until: Date }
  /**
   * Runs an operation that was saved with {@link lease}. Answers its failure, or null when done or blocked. Never
   * rejects: one that was interrupted here answers `service_unavailable`, and is taken up again.
   */
  run(operation: OperationRow): Promise<OperationError | null>
  /** Takes over what is due; called each second once started. */
  sweep(): Promise<void>
  /** Sweeps soon, without waiting for it: something became due. */
  wake(): void
  /** Resolves when no operation runs in this process. */
  settled(): Promise<void>
  /**
   * Begins the sweeps. This process is the only one on its database (the instance's lock), so what an earlier one had
   * under way is taken up now, not when its leases run out.
   */
  start(): Promise<void>
  stop(): void
}

export function createOperationRunner(options: {
  db: Db
  clock: Clock
  logger: Logger
  sagas: readonly Saga[]
  /** Names this process on the leases; new at each start. */
  owner: string
}): OperationRunner {
  const { db, clock, logger, owner } = options
  const sagas = new Map(options.sagas.map((saga) => [saga.kind, saga]))
  const running = new Map<string, Promise<OperationError | null>>()

  const later = (ms: number): Date => new Date(clock.now().getTime() + ms)
  const record = (operation: OperationRow, leaseUntil: Date | null): Promise<void> =>
    recordProgress(db, owner, operation, { now: clock.now(), leaseUntil })
  const records: SagaRecords = {
    stepDone: (operation) => record(operation, later(leaseMs)),
    undoing: (operation) => record(operation, later(leaseMs)),
    blocked: (operation) => record(operation, null),
  }

  const execute = async (operation: OperationRow): Promise<OperationError | null> => {
    const log = { operationId: operation.id, kind: operation.kind, dockId: operation.dockId }
    try {
      const saga = sagas.get(operation.kind)
      if (!saga) throw new Error(`no saga for operation kind ${operation.kind}`)
      const error = await runSaga(saga, operation, records)
      if (error) logger.warn({ ...log, error }, 'operation failed')
      return error
    } catch (error) {
      if (error instanceof LeaseLost) logger.warn(log, 'operation was taken over by another process')
      else {
        logger.error({ ...log, err: error }, 'operation interrupted; it is taken up again')
        await record(operation, later(retryMs)).catch(() => undefined)
      }
      return interrupted
    }
  }

  const run = (operation: OperationRow): Promise<OperationError | null> => {
    const already = running.get(operation.id)
    if (already) return already
    const promise = execute(operation).finally(() => running.delete(operation.id))
    running.set(operation.id, promise)
    return promise
  }

  const sweep = async (): Promise<void> => {
    const due = await takeDue(db, { owner, now: clock.now(), until: later(leaseMs), limit: batch })
    // One that still runs here was only slow to renew; its own run goes on under the new lease.
    for (const operation of due) void run(operation)
  }

  let sweeping = false
  let again = false
  const wake = (): void => {
    again = true
    if (sweeping) return
    sweeping = true
    const untilQuiet = async (): Promise<void> => {
      while (again) {
        again = false
        await sweep()
      }
    }
    untilQuiet()
      .catch((error: unknown) => logger.error({ err: error }, 'operation sweep failed'))
      .finally(() => {
        sweeping = false
      })
  }

  const renew = async (): Promise<void> => {
    const ids = [...running.keys()]
    if (ids.length > 0) await renewLeases(db, { owner, until: later(leaseMs), ids })
  }

  const timers = createTimers({
    clock,
    logger,
    tasks: [
      { name: 'operations', everyMs: sweepMs, run: sweep },
      { name: 'leases', everyMs: renewMs, run: renew },
    ],
  })

  return {
    lease: () => ({ owner, until: later(leaseMs) }),
    run,
    sweep,
    wake,
    settled: async () => {
      while (running.size > 0) await Promise.allSettled([...running.values()])
    },
    start: async () => {
      await endLeasesOfOthers(db, owner)
      timers.start()
      wake()
    },
    stop: () => timers.stop(),
  }
}
