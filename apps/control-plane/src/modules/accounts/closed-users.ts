/** The SQL that closes, reopens and erases people. The closure module decides when. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

/** Marks the account as closed. */
export async function closeUser(tx: Tx, userId: string, now: Date): Promise<void> {
  await tx.updateTable('users').set({ closed_at: now, updated_at: now }).where('id', '=', userId).execute()
}

/** Marks the account as open. Returns false if it was not closed. */
export async function reopenUser(tx: Tx, userId: string, now: Date): Promise<boolean> {
  const result = await tx
    .updateTable('users')
    .set({ closed_at: null, updated_at: now })
    .where('id', '=', userId)
    .where('closed_at', 'is not', null)
    .where('erased_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Deletes password reset links and unfinished sign-ins, which contain the person's id or address. */
export async function deleteVerificationsOf(tx: Tx, person: { id: string; email: string }): Promise<void> {
  await sql`delete from verifications
    where position(${person.id} in value) > 0 or position(lower(${person.email}) in lower(value)) > 0
      or position(lower(${person.email}) in lower(identifier)) > 0`.execute(tx)
}

/**
 * Deletes the row of an erased person, and dependent rows by cascade. While the session `last` lives, a row without
 * personal data replaces it, so that the session can be told that the account is gone.
 */
export async function replaceErasedUser(
  tx: Tx,
  userId: string,
  last: string | null,
  now: Date,
): Promise<void> {
  const session =
    last === null
      ? undefined
      : await tx
          .selectFrom('sessions')
          .select(['id', 'token', 'expires_at', 'created_at'])
          .where('id', '=', last)
          .where('user_id', '=', userId)
          .executeTakeFirst()
  await tx.deleteFrom('users').where('id', '=', userId).execute()
  if (!session) return
  await tx
    .insertInto('users')
    .values({
      id: userId,
      name: '',
      email: `erased-${userId}@erased.invalid`,
      closed_at: now,
      erased_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await tx
    .insertInto('sessions')
    .values({ ...session, user_id: userId })
    .execute()
}

/** Deletes the rows that replaced erased people and whose last session has ended. */
export async function deleteErasedUsers(db: Db, now: Date): Promise<void> {
  await db
    .deleteFrom('users')
    .where('erased_at', 'is not', null)
    .where((where) =>
      where.not(
        where.exists(
          where
            .selectFrom('sessions')
            .select('sessions.id')
            .whereRef('sessions.user_id', '=', 'users.id')
            .where('sessions.expires_at', '>', now),
        ),
      ),
    )
    .execute()
}
