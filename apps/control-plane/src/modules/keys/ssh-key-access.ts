/** Finds the person who has added a public key, for the SSH gateway, and records when a key was last used. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { type Caller, personColumns, personOf } from '../accounts/index.ts'

/** A registered SSH key and the person who owns it. */
export type SshKeyHolder = { caller: Caller; lastUsedAt: Date | null }

export type SshKeyAccess = {
  /** Returns the person with an open account who has added this key, or null. */
  find(fingerprint: string): Promise<SshKeyHolder | null>
  /** Updates `lastUsedAt` of a key, at most once a minute. The caller does not wait for it. */
  recordUse(holder: SshKeyHolder): void
}

const lastUsedIntervalMs = 60_000

export function createSshKeyAccess({
  db,
  clock,
  logger,
}: {
  db: Db
  clock: Clock
  logger: Logger
}): SshKeyAccess {
  return {
    find: async (fingerprint) => {
      const row = await db
        .selectFrom('ssh_keys')
        .innerJoin('users', 'users.id', 'ssh_keys.user_id')
        .where('ssh_keys.fingerprint', '=', fingerprint)
        .where('users.closed_at', 'is', null)
        .where('users.erased_at', 'is', null)
        .select(['ssh_keys.id as key_id', 'ssh_keys.last_used_at', ...personColumns])
        .executeTakeFirst()
      if (!row) return null
      const { userId, email, emailVerified, instanceAdmin } = personOf(row)
      return {
        caller: { kind: 'ssh_key', credentialId: row.key_id, userId, email, emailVerified, instanceAdmin },
        lastUsedAt: row.last_used_at,
      }
    },
    recordUse: ({ caller, lastUsedAt }) => {
      const now = clock.now()
      if (lastUsedAt && now.getTime() - lastUsedAt.getTime() < lastUsedIntervalMs) return
      db.updateTable('ssh_keys')
        .set({ last_used_at: now })
        .where('id', '=', caller.credentialId)
        .execute()
        .catch((error: unknown) => logger.warn({ err: error }, 'could not record the use of an SSH key'))
    },
  }
}
