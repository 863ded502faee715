/** Deletes or clears many rows in small batches, so that locks and transactions stay short. */
import type { RawBuilder } from 'kysely'
import type { Db } from './database.ts'

export const batchRows = 1000

/**
 * Repeats a statement that deletes or clears at most {@link batchRows} rows, until it affects fewer rows or has run
 * `batchesMax` times. Returns true if no rows are left. Otherwise the caller's next round continues.
 */
export async function deleteInBatches(
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
