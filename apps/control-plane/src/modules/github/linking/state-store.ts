/**
 * The states of linking and of the manifest: random values of 256 bits that a browser carries to GitHub and back. They are
 * stored hashed, work once, and only for the person and the workspace they were made for.
 */
import { createHash, randomBytes } from 'node:crypto'
import { limits, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

export type StateOwner = { userId: string; workspaceId: string | null }
export type StatePurpose = 'manifest' | 'link' | 'selection'

/** A repository that a person has proved to administer. */
export type ProvenRepository = {
  providerInstallationId: number
  repositoryId: number
  fullName: string
  defaultBranch: string
}

const hashOf = (raw: string): Buffer => createHash('sha256').update(raw).digest()

/** Runs a query on states. If it fails, the caller gets `unavailable`. */
const orUnavailable = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    throw new ServiceError('unavailable', { cause: error })
  }
}

/** Stores a state and returns its raw value. Deletes expired states, and the oldest of a person who has many. */
export async function insertState(
  db: Db,
  purpose: StatePurpose,
  owner: StateOwner,
  now: Date,
  proven: readonly ProvenRepository[] | null = null,
): Promise<string> {
  const raw = randomBytes(32).toString('base64url')
  const seconds = limits.github.stateSeconds[purpose === 'manifest' ? 'manifest' : 'link']
  const expiresAt = new Date(now.getTime() + seconds * 1000)
  await orUnavailable(
    sql`with expired as (delete from github_states where expires_at <= ${now}
        or hash in (select hash from github_states where user_id = ${owner.userId}
          order by created_at desc offset ${limits.github.statesPerPersonMax - 1}))
      insert into github_states (hash, purpose, user_id, workspace_id, proven, created_at, expires_at)
      values (${hashOf(raw)}, ${purpose}, ${owner.userId}, ${owner.workspaceId},
        ${proven && JSON.stringify(proven)}::jsonb, ${now}, ${expiresAt})`.execute(db),
  )
  return raw
}

/**
 * Deletes a state and returns what it proves. Throws `invalid_state` if it is unknown, used, expired, or another person's
 * or workspace's; in that case it stays.
 */
export async function redeemState(
  db: Db,
  purpose: StatePurpose,
  raw: string,
  owner: StateOwner,
  now: Date,
): Promise<ProvenRepository[]> {
  const { rows } = await orUnavailable(
    sql<{ proven: ProvenRepository[] | null }>`delete from github_states where hash = ${hashOf(raw)}
      and purpose = ${purpose} and user_id = ${owner.userId} and expires_at > ${now}
      and workspace_id is not distinct from ${owner.workspaceId}::uuid returning proven`.execute(db),
  )
  if (!rows[0]) throw new ServiceError('invalid_state')
  return rows[0].proven ?? []
}
