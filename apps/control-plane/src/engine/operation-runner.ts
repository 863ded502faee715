/**
 * Runs operations. An operation that this process saved runs immediately. A pending operation runs as soon as a
 * notification wakes this process. An operation whose lease has expired is taken over within a second, and continues
 * from its last recorded step. The runner renews a lease while its saga runs, so only a process that died or hangs
 * loses it.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../database/database.ts'
import type { OperationError, OperationRow } from './operation.ts'
import { InvalidOperationData } from './operation-data.ts'
import {
  claimDueOperations,
  endLeasesOfOthers,
  LeaseLost,
  recordProgress,
  renewLeases,
} from './operation-store.ts'
import { pruneOperations } from './prune-operations.ts'
import { runSaga, type Saga, type SagaRecords } from './saga.ts'
import { createTimers } from './timers.ts'

const leaseMs = 15_000
const renewMs = 5_000
const sweepMs = 1_000
const retryMs = 3_000
/** An operation whose data is invalid waits for an operator or a newer version, which takes it over when it starts. */
const retryInvalidMs = 60_000
const pruneEveryMs = 600_000
const batch = 20

const interrupted: OperationError = {
  code: 'service_unavailable',
  message: 'The operation was interrupted and is retried automatically. Read the Dock to see the result.',
}

export type OperationRunner = {
  /** Adds sagas, before the first operation runs. A module registers its own. */
  register(added: readonly Saga[]): void
  /** The lease to save with a new operation, so that no other process takes it. */
  lease(): { owner: string; until: Date }
  /**
   * Runs an operation that was saved with {@link lease}. Returns its failure, or null if it completed or is blocked.
   * Never rejects: an interrupted operation returns `service_unavailable` and is retried later.
   */
  run(operation: OperationRow): Promise<OperationError | null>
  /** Takes over operations that are due. Runs every second once started. */
  sweep(): Promise<void>
  /** Starts a sweep without waiting for it. */
  wake(): void
  /** Resolves when no operation runs in this process. */
  settled(): Promise<void>
  /**
   * Starts the sweeps. This process holds the instance lock and is alone on its database, so it takes over the
   * operations of an earlier process immediately instead of waiting for their leases to expire.
   */
  start(): Promise<void>
  stop(): void
}

const logOf = ({ id, kind, dockId }: OperationRow) => ({ operationId: id, kind, dockId })

export function createOperationRunner(options: {
  db: Db
  clock: Clock
  logger: Logger
  /** Identifies this process on leases. Each start has a new one. */
  owner: string
}): OperationRunner {
  const { db, clock, logger, owner } = options
  const sagas = new Map<string, Saga>()
  const running = new Map<string, Promise<OperationError | null>>()

  const later = (ms: number): Date => new Date(clock.now().getTime() + ms)
  const record = (operation: OperationRow, leaseUntil: Date | null): Promise<void> =>
    recordProgress(db, owner, operation, { now: clock.now(), leaseUntil })
  const records: SagaRecords = {
    recordStep: (operation) => record(operation, later(leaseMs)),
    recordUndoing: (operation, step, cause) => {
      logger.warn({ ...logOf(operation), step, err: cause }, 'a step of an operation failed')
      return record(operation, later(leaseMs))
    },
    recordBlocked: (operation) => record(operation, null),
  }

  const execute = async (operation: OperationRow): Promise<OperationError | null> => {
    const log = logOf(operation)
    try {
      const saga = sagas.get(operation.kind)
      if (!saga) throw new Error(`no saga for operation kind ${operation.kind}`)
      const error = await runSaga(saga, operation, records)
      if (error) logger.warn({ ...log, error }, 'operation failed')
      return error
    } catch (error) {
      if (error instanceof LeaseLost) logger.warn(log, 'lost the lease of an operation to another process')
      else if (error instanceof InvalidOperationData) {
        logger.error(
          { ...log, err: error },
          'the data of an operation is invalid; it is kept and read again later',
        )
        await renewLeases(db, { owner, until: later(retryInvalidMs), ids: [operation.id] }).catch(() => [])
      } else {
        logger.error({ ...log, err: error }, 'operation interrupted; it will be retried')
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
    const due = await claimDueOperations(db, { owner, now: clock.now(), until: later(leaseMs), limit: batch })
    // If an operation still runs here, its renewal was late. `run` finds it, and it continues under the new lease.
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
      { name: 'old operations', everyMs: pruneEveryMs, run: () => pruneOperations({ db, clock }) },
    ],
  })

  return {
    register: (added) => {
      for (const saga of added) sagas.set(saga.kind, saga)
    },
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
