/**
 * What the object store remembers of the instance, as hosts do: an instance whose hosts are all new notices a restored
 * database by it. Two objects, because the mark changes every few seconds and the erasures seldom.
 */
import type { Clock, Logger } from '@dock/foundation'
import * as z from 'zod'
import type { Db } from '../../database/database.ts'
import { ObjectMissing, type ObjectStore } from '../../object-store/index.ts'
import { countErasures, type Erased, listErasures, takeErasures, unknownErasures } from './erasures.ts'
import type { Lineage, Remembered } from './lineage.ts'

const markKey = 'instance/mark'
const erasuresKey = 'instance/erasures'
/** Of erasures the newest are kept, as on hosts. */
const erasuresMax = 100_000
/** A start waits so long for the store: one that is away must not keep the instance away. */
const patienceMs = 15_000

const markObject: z.ZodType<Remembered> = z.object({
  epoch: z.int().min(0),
  startId: z.uuid(),
  mark: z.int().min(0),
})
const erasuresObject: z.ZodType<Erased[]> = z
  .array(z.object({ kind: z.enum(['person', 'organization']), id: z.string() }))
  .max(erasuresMax)

export type StoreMemory = {
  /** Compares, before orders are given. When the store cannot be read in time, {@link StoreMemory.keep} does it later. */
  look(): Promise<void>
  /** Writes what changed since. A store that was not compared is compared first: what it knows is never overwritten. */
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
  /** Erases again what a restore brought back. */
  eraseAgain(erased: readonly Erased[]): Promise<void>
}): StoreMemory {
  const { db, clock, logger, store, lineage } = parts

  /** The object, or null where none was ever written. One that cannot be understood throws. */
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
    await lineage.look(mark, 'the object store')
    const forgotten = await unknownErasures(db, erased ?? [])
    // Recorded last: what fails is found again at the next attempt.
    await parts.eraseAgain(forgotten)
    await takeErasures(db, forgotten, clock.now())
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
    look: async () => {
      const late = Promise.withResolvers<never>()
      const cancel = clock.after(patienceMs, () => late.reject(new Error('the object store is too slow')))
      await Promise.race([compared(), late.promise])
        .catch((error: unknown) =>
          logger.error(
            { err: error },
            'the object store was not asked whether the database was restored; it is asked again until it is',
          ),
        )
        .finally(cancel)
    },
    keep: () => {
      keeping = keepNow()
      return keeping
    },
    settled: () => keeping.catch(() => undefined),
  }
}
