/** All SQL for SSH keys. */
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { columnsOf } from '../../../database/columns.ts'
import type { Db, Row, Tx } from '../../../database/database.ts'
import type { SshPublicKey } from './ssh-public-key.ts'

export type SshKeyRow = Row<'ssh_keys'>
const columns = columnsOf('ssh_keys')

const isLive = (now: Date) => sql<boolean>`(expires_at is null or expires_at > ${now})`

/** Returns a user's SSH keys that have not expired, newest first. */
export function listSshKeyRows(db: Db, userId: string, now: Date): Promise<SshKeyRow[]> {
  return db
    .selectFrom('ssh_keys')
    .select(columns)
    .where('user_id', '=', userId)
    .where(isLive(now))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** Inserts a key, which is not proved. Returns undefined if the account has it. */
export function insertSshKey(
  tx: Tx,
  values: { userId: string; name: string; key: SshPublicKey; now: Date; expiresAt: Date | null },
): Promise<SshKeyRow | undefined> {
  return tx
    .insertInto('ssh_keys')
    .values({
      id: newUuid(),
      user_id: values.userId,
      name: values.name,
      public_key: values.key.line,
      fingerprint: values.key.fingerprint,
      last_used_at: null,
      created_at: values.now,
      expires_at: values.expiresAt,
    })
    .onConflict((conflict) => conflict.columns(['user_id', 'fingerprint']).doNothing())
    .returning(columns)
    .executeTakeFirst()
}

/** Returns a user's SSH key, unless it has expired. */
export function findSshKeyRow(db: Db, userId: string, id: string, now: Date): Promise<SshKeyRow | undefined> {
  return db
    .selectFrom('ssh_keys')
    .select(columns)
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where(isLive(now))
    .executeTakeFirst()
}

/** Replaces the text to sign. */
export async function setSshKeyChallenge(
  db: Db,
  id: string,
  challenge: { text: string; expiresAt: Date },
): Promise<void> {
  await db
    .updateTable('ssh_keys')
    .set({ challenge: challenge.text, challenge_expires_at: challenge.expiresAt })
    .where('id', '=', id)
    .execute()
}

/** Marks a key as proved and forgets the challenge. Returns undefined if another proof has used the challenge. */
export function markSshKeyProved(
  db: Db,
  id: string,
  challenge: string,
  now: Date,
): Promise<SshKeyRow | undefined> {
  return db
    .updateTable('ssh_keys')
    .set({ proved_at: now, challenge: null, challenge_expires_at: null })
    .where('id', '=', id)
    .where('challenge', '=', challenge)
    .returning(columns)
    .executeTakeFirst()
}

/** Deletes a user's SSH key and returns it. Returns undefined if the user has no key with this id. */
export function deleteSshKeyRow(tx: Tx, userId: string, id: string): Promise<SshKeyRow | undefined> {
  return tx
    .deleteFrom('ssh_keys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning(columns)
    .executeTakeFirst()
}

export async function deleteAllSshKeyRows(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('ssh_keys').where('user_id', '=', userId).execute()
}

/** Deletes the SSH keys of all users that have expired. */
export async function deleteExpiredSshKeys(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('ssh_keys').where('expires_at', '<=', now).execute()
}
