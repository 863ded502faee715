/** Deletes or clears many rows a few at a time: no lock is held for long, and no transaction grows with what is deleted. */
import type { RawBuilder } from 'kysely'
import type { Db } from './database.ts'

export const batchRows = 1000

/**
 * Repeats a statement that deletes or clears at most {@link batchRows} rows, until it finds fewer or `batchesMax` are gone. Returns
 * whether all are gone; the caller's next round goes on.
 */
export async function deleteBatches(
  db: Db,
  statement: RawBuilder<unknown>,
  batchesMax = 100,
): Promise<boolean> {
  for (let batch = 0; batch < batchesMax; batch++) {
    const gone = await statement.execute(db)
    if (Number(gone.numAffectedRows ?? 0n) < batchRows) return true
  }
  return false
}
