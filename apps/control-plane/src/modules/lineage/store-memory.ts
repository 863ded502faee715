/**
 * Keeps the instance's watermark and erasures in the object store, as hosts do. An instance whose hosts are all new can so
 * detect a restored database. They are two objects, because the watermark changes every few seconds and erasures seldom.
 */
import { type Clock, type Logger, waitAtMost } from '@dock/foundation'
import * as z from 'zod'
import type { Db } from '../../database/database.ts'
import { ObjectMissing, type ObjectStore } from '../../object-store/index.ts'
import { countErasures, type Erased, findUnknownErasures, listErasures, recordErasures } from './erasures.ts'
import type { Lineage, Remembered } from './lineage.ts'

const markKey = 'instance/mark'
const erasuresKey = 'instance/erasures'
/** The newest erasures are kept, as on hosts. */
const erasuresMax = 100_000
/** Longest time that a start waits for the object store, so that an unavailable store does not prevent the start. */
const readTimeoutMs = 15_000

const markObject: z.ZodType<Remembered> = z.object({
  epoch: z.int().min(0),
  startId: z.uuid(),
  mark: z.int().min(0),
})
const erasuresObject: z.ZodType<Erased[]> = z
  .array(z.object({ kind: z.enum(['person', 'organization']), id: z.string() }))
  .max(erasuresMax)

export type StoreMemory = {
  /**
   * Compares the database with the object store. Call it at the start, before hosts receive orders. If the store cannot be
   * read in time, {@link StoreMemory.keep} compares later.
   */
  compareStore(): Promise<void>
  /** Writes changes to the store. Compares first if no comparison has succeeded yet, so that no record is overwritten. */
  keep(): Promise<void>
  /** Resolves when nothing is being written. */
  settled(): Promise<void>
}

export function createStoreMemory(parts: {
  db: Db
  clock: Clock
  logger: Logger
  store: ObjectStore
  lineage: Lineage
  /** Applies erasures again that a restore of the database has undone. */
  reapplyErasures(erased: readonly Erased[]): Promise<void>
}): StoreMemory {
  const { db, clock, logger, store, lineage } = parts

  /** Returns the parsed object, or null if there is none. Throws if it cannot be parsed. */
  const read = async <T>(key: string, type: z.ZodType<T>): Promise<T | null> => {
    try {
      return type.parse(JSON.parse((await store.get(key)).toString('utf8')))
    } catch (error) {
      if (error instanceof ObjectMissing) return null
      throw error
    }
  }

  const compare = async (): Promise<void> => {
    const mark = await read(markKey, markObject)
    const erased = await read(erasuresKey, erasuresObject)
    await lineage.compareMark(mark, 'the object store')
    const forgotten = await findUnknownErasures(db, erased ?? [])
    // Record the erasures last, so that a failed attempt is repeated.
    await parts.reapplyErasures(forgotten)
    await recordErasures(db, forgotten, clock.now())
  }
  let comparing: Promise<void> | undefined
  const compared = (): Promise<void> => {
    comparing ??= compare().catch((error: unknown) => {
      comparing = undefined
      throw error
    })
    return comparing
  }

  let writtenErasures = 0
  const keepErasures = async (): Promise<void> => {
    const count = await countErasures(db)
    if (count === writtenErasures) return
    const newest = { offset: Math.max(0, count - erasuresMax), limit: erasuresMax }
    await store.put(erasuresKey, Buffer.from(JSON.stringify(await listErasures(db, newest))))
    writtenErasures = count
  }
  let writtenMark = ''
  const keepMark = async (): Promise<void> => {
    const mark = JSON.stringify(await lineage.current())
    if (mark === writtenMark) return
    await store.put(markKey, Buffer.from(mark))
    writtenMark = mark
  }

  let keeping: Promise<void> = Promise.resolve()
  const keepNow = async (): Promise<void> => {
    await compared()
    await keepErasures()
    await keepMark()
  }

  return {
    compareStore: async () => {
      try {
        if ((await waitAtMost(clock, readTimeoutMs, compared())) === 'late')
          throw new Error('the object store did not respond in time')
      } catch (error) {
        logger.error(
          { err: error },
          'cannot read from the object store whether the database was restored; retrying until it can be read',
        )
      }
    },
    keep: () => {
      keeping = keepNow()
      return keeping
    },
    settled: () => keeping.catch(() => undefined),
  }
}
