/**
 * Background reconciler that removes the resources of deleted organizations. Modules that own more than database rows
 * (disks, captures, objects) register them as an {@link OrganizationResource}. Once all of them report that nothing is
 * left, one transaction deletes the organization's row, with the rows that cascade from it, and its data key. Each
 * round reads the current state, so a round that was interrupted by a crash is simply repeated.
 */
import type { Clock, Logger } from '@dock/foundation'
import { type Db, withTransaction } from '../../database/database.ts'
import { isForeignKeyViolation } from '../../database/violations.ts'
import { createTimers } from '../../engine/index.ts'
import type { Sealer } from '../../sealing/index.ts'
import { deleteOrganizationRow, listDeletedOrganizations } from './organization-store.ts'

/** A kind of resource that an organization owns and that a cascading delete in the database does not remove. */
export type OrganizationResource = {
  name: string
  /** Starts or continues the removal and returns how many are left. Idempotent. */
  remove(organizationId: string): Promise<number>
}

export type OrganizationRemoval = {
  /** Runs one round over all deleted organizations. Joins a round that is already running and repeats it. */
  run(): Promise<void>
  /** Starts a round without waiting for it. */
  wake(): void
  start(): void
  /** Stops the timer and resolves once no round is running. */
  stop(): Promise<void>
}

const everyMs = 5_000
const batch = 50

/** Creates the reconciler. */
export function createOrganizationRemoval(options: {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  resources: readonly OrganizationResource[]
}): OrganizationRemoval {
  const { db, logger, sealer, resources } = options

  /** Returns true if nothing is left. A resource whose removal fails counts as left and does not stop the others. */
  const removeResources = async (organizationId: string): Promise<boolean> => {
    let left = 0
    for (const resource of resources) {
      try {
        left += await resource.remove(organizationId)
      } catch (error) {
        left += 1
        logger.warn(
          { err: error, organizationId, resource: resource.name },
          'could not remove a resource of a deleted organization; the next round retries',
        )
      }
    }
    return left === 0
  }

  const deleteRowAndKey = async (organizationId: string): Promise<void> => {
    const owner = { kind: 'organization', id: organizationId } as const
    try {
      await withTransaction(db, async (tx) => {
        await deleteOrganizationRow(tx, organizationId)
        await sealer.destroyKey(owner, tx)
      })
      logger.info({ organizationId }, 'removed a deleted organization')
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error
      // A request that started before the deletion has created a Dock. The next round removes it.
      logger.warn(
        { err: error, organizationId },
        'a deleted organization has a new Dock; the next round removes it',
      )
    }
  }

  const removeOne = async (organizationId: string): Promise<void> => {
    try {
      if (await removeResources(organizationId)) await deleteRowAndKey(organizationId)
    } catch (error) {
      logger.error(
        { err: error, organizationId },
        'could not remove a deleted organization; the next round retries',
      )
    }
  }

  const runRound = async (): Promise<void> => {
    for (const organizationId of await listDeletedOrganizations(db, batch)) await removeOne(organizationId)
  }

  let running: Promise<void> | undefined
  let isRepeatRequested = false
  const run = (): Promise<void> => {
    if (running) {
      isRepeatRequested = true
      return running
    }
    const runRounds = async (): Promise<void> => {
      do {
        isRepeatRequested = false
        await runRound()
      } while (isRepeatRequested)
    }
    running = runRounds().finally(() => {
      running = undefined
    })
    return running
  }

  const timers = createTimers({
    clock: options.clock,
    logger,
    tasks: [{ name: 'deleted organizations', everyMs, run }],
  })
  return {
    run,
    wake: () =>
      void run().catch((error: unknown) =>
        logger.error({ err: error }, 'could not list the deleted organizations'),
      ),
    start: timers.start,
    stop: async () => {
      timers.stop()
      await running?.catch(() => undefined)
    },
  }
}
