/** Finds the people who have added a public key, for the SSH gateway, and records when a key was last used. */
import type { Clock, Logger } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { type Caller, personColumns, personOf } from '../../accounts/index.ts'

/** A registered SSH key and the person in whose account it is. */
export type SshKeyHolder = {
  caller: Caller
  lastUsedAt: Date | null
  /** True if the person has shown that they have the private key. Anybody can add a public key. */
  isProved: boolean
}

export type SshKeyAccess = {
  /** Returns the people with open accounts who have added this key: those who proved it first, then by age of the key. */
  findHolders(fingerprint: string): Promise<SshKeyHolder[]>
  /** Updates `lastUsedAt` of a key, at most once a minute. The caller does not wait for it. */
  recordUse(holder: SshKeyHolder): void
}

const lastUsedIntervalMs = 60_000
/** Strangers can add a key, so the work of a login is bounded. Who has proved the key comes before them. */
const holdersMax = 100

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
    findHolders: async (fingerprint) => {
      const rows = await db
        .selectFrom('ssh_keys')
        .innerJoin('users', 'users.id', 'ssh_keys.user_id')
        .where('ssh_keys.fingerprint', '=', fingerprint)
        .where(sql<boolean>`(ssh_keys.expires_at is null or ssh_keys.expires_at > ${clock.now()})`)
        .where('users.closed_at', 'is', null)
        .where('users.erased_at', 'is', null)
        .select([
          'ssh_keys.id as key_id',
          'ssh_keys.last_used_at',
          sql<boolean>`ssh_keys.proved_at is not null`.as('is_proved'),
          ...personColumns,
        ])
        .orderBy(sql`ssh_keys.proved_at is null`)
        .orderBy('ssh_keys.created_at')
        .orderBy('ssh_keys.id')
        .limit(holdersMax)
        .execute()
      return rows.map((row) => {
        const { userId, email, emailVerified, instanceAdmin } = personOf(row)
        return {
          caller: { kind: 'ssh_key', credentialId: row.key_id, userId, email, emailVerified, instanceAdmin },
          lastUsedAt: row.last_used_at,
          isProved: row.is_proved,
        }
      })
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
