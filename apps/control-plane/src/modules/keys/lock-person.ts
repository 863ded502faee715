import type { Tx } from '../../database/database.ts'

/** Holds a person's row, so that two who add keys for them count each other's. */
export const lockPerson = async (tx: Tx, userId: string): Promise<void> => {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
}
