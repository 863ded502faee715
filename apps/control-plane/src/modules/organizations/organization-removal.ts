/**
 * Removes what a deleted organization owned. Modules that keep more than rows (disks, captures, objects) name it here as
 * a thing; the organization's row, and with it what a cascade may take, goes only when every thing says that nothing is
 * left, its data key in the same transaction. Each round reads the truth afresh, so a crash anywhere costs a round.
 */
import type { Clock, Logger } from '@dock/foundation'
import { type Db, withTransaction } from '../../database/database.ts'
import { isForeignKeyViolation } from '../../database/violations.ts'
import { createTimers } from '../../engine/index.ts'
import type { Sealer } from '../../sealing/index.ts'
import { deleteOrganizationRow, listDeletedOrganizations } from './organization-store.ts'

/** Something an organization owns that a cascade in the database would leave behind. */
export type OrganizationThing = {
  name: string
  /** Begins or goes on to remove what there is, and answers how many are left. Doing it twice is harmless. */
  remove(organizationId: string): Promise<number>
}

export type OrganizationRemoval = {
  /** One round over every deleted organization. */
  run(): Promise<void>
  /** Begins a round at once, without waiting for it. */
  wake(): void
  start(): void
  /** Resolves when no round is under way. */
  stop(): Promise<void>
}

const everyMs = 5_000
const batch = 50

export function createOrganizationRemoval(options: {
  db: Db
  clock: Clock
  logger: Logger
  sealer: Sealer
  things: readonly OrganizationThing[]
}): OrganizationRemoval {
  const { db, logger, sealer, things } = options

  /** Whether nothing is left. A thing that fails is left: the others go on. */
  const isEmptied = async (organizationId: string): Promise<boolean> => {
    let left = 0
    for (const thing of things) {
      try {
        left += await thing.remove(organizationId)
      } catch (error) {
        left += 1
        logger.warn({ err: error, organizationId, thing: thing.name }, 'a deleted organization keeps a thing')
      }
    }
    return left === 0
  }

  const finish = async (organizationId: string): Promise<void> => {
    const owner = { kind: 'organization', id: organizationId } as const
    try {
      await withTransaction(db, async (tx) => {
        await deleteOrganizationRow(tx, organizationId)
        await sealer.destroyKey(owner, tx)
      })
      logger.info({ organizationId }, 'deleted organization removed')
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error
      // A create that was under way when it was deleted has put a Dock into it: the next round removes that one too.
      logger.warn({ err: error, organizationId }, 'a deleted organization was given something more')
    }
  }

  const removeOne = async (organizationId: string): Promise<void> => {
    try {
      if (await isEmptied(organizationId)) await finish(organizationId)
    } catch (error) {
      logger.error({ err: error, organizationId }, 'deleted organization not removed')
    }
  }

  const round = async (): Promise<void> => {
    for (const organizationId of await listDeletedOrganizations(db, batch)) await removeOne(organizationId)
  }

  let underWay: Promise<void> | undefined
  let again = false
  const run = (): Promise<void> => {
    if (underWay) {
      again = true
      return underWay
    }
    const rounds = async (): Promise<void> => {
      do {
        again = false
        await round()
      } while (again)
    }
    underWay = rounds().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  const timers = createTimers({
    clock: options.clock,
    logger,
    tasks: [{ name: 'deleted organizations', everyMs, run }],
  })
  return {
    run,
    wake: () =>
      void run().catch((error: unknown) => logger.error({ err: error }, 'deleted organizations not read')),
    start: timers.start,
    stop: async () => {
      timers.stop()
      await underWay?.catch(() => undefined)
    },
  }
}
