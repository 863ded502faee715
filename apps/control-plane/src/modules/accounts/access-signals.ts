/**
 * Ends long-lived connections to a Dock (terminals, streams) when the user loses access to it: the credential or the
 * membership is gone, or the Dock's secrets are now hidden from the user. A NOTIFY with the id of the lost row triggers
 * the check at once in every process. A periodic sweep covers missed notifications, expiries and hidden secrets. Both
 * read the current state from the database.
 */
import type { Clock, Logger } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

export type AccessHold = {
  userId: string
  /** Id of the session or key that opened the connection. */
  credentialId: string
  /** The organization that owns the Dock. */
  organizationId: string
  dockId: string
}

export type AccessSignals = {
  /** Calls `onLost` once, within five seconds of the loss. Returns a function that unsubscribes. */
  subscribe(hold: AccessHold, onLost: () => void): () => void
  /**
   * Handles a notification of the channel `access_lost`. `id` is the user, credential or organization that was lost; it
   * is undefined if notifications may have been missed.
   */
  notice(id?: string): void
  start(): void
  stop(): void
}

type Subscription = AccessHold & { onLost: () => void }

const sweepMs = 2_000

/**
 * Returns the 1-based positions of the holds that are still valid: the credential works, the account is open, the user
 * is a member, and the Dock's secrets are not hidden from them.
 */
const findValidHolds = async (
  db: Db,
  holds: readonly AccessHold[],
  refusesSecrets: RawBuilder<boolean>,
  now: Date,
): Promise<Set<number>> => {
  const { rows } = await sql<{ at: number }>`
    select h.at::int as at from unnest(${holds.map((hold) => hold.userId)}::uuid[],
      ${holds.map((hold) => hold.credentialId)}::uuid[], ${holds.map((hold) => hold.organizationId)}::uuid[],
      ${holds.map((hold) => hold.dockId)}::uuid[])
      with ordinality as h(user_id, credential_id, organization_id, dock_id, at)
    join users u on u.id = h.user_id and u.closed_at is null and u.erased_at is null
    join memberships m on m.user_id = h.user_id and m.organization_id = h.organization_id
    where not exists (select 1 from docks d where d.id = h.dock_id and ${refusesSecrets})
      and (exists (select 1 from sessions s
        where s.id = h.credential_id and s.user_id = h.user_id and s.expires_at > ${now})
      or exists (select 1 from api_keys k where k.id = h.credential_id and k.user_id = h.user_id
        and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now}))
      or exists (select 1 from ssh_keys k where k.id = h.credential_id and k.user_id = h.user_id
        and (k.expires_at is null or k.expires_at > ${now})))`.execute(db)
  return new Set(rows.map((row) => row.at))
}

/** Creates the subscriptions of one process. `start` begins the sweep and `stop` ends it. */
export function createAccessSignals(options: {
  db: Db
  clock: Clock
  logger: Logger
  /** SQL predicate: true if the secrets of the Dock `d` are hidden from the membership `m`. */
  refusesSecrets: RawBuilder<boolean>
}): AccessSignals {
  const { db, clock, logger, refusesSecrets } = options
  const subscriptions = new Set<Subscription>()
  let cancel: () => void = () => undefined
  let started = false

  const check = async (asked: readonly Subscription[]): Promise<void> => {
    if (asked.length === 0) return
    const held = await findValidHolds(db, asked, refusesSecrets, clock.now())
    asked.forEach((subscription, index) => {
      if (!held.has(index + 1) && subscriptions.delete(subscription)) subscription.onLost()
    })
  }
  const checkNow = (asked: readonly Subscription[]): Promise<void> =>
    check(asked).catch((error: unknown) =>
      logger.error({ err: error }, 'access check failed; the next sweep repeats it'),
    )

  const scheduleSweep = (): void => {
    if (!started) return
    cancel = clock.after(sweepMs, () => void checkNow([...subscriptions]).finally(scheduleSweep))
  }
  return {
    subscribe: (hold, onLost) => {
      const subscription = { ...hold, onLost }
      subscriptions.add(subscription)
      return () => void subscriptions.delete(subscription)
    },
    notice: (id) =>
      void checkNow(
        [...subscriptions].filter(
          ({ userId, credentialId, organizationId }) =>
            id === undefined || id === userId || id === credentialId || id === organizationId,
        ),
      ),
    start: () => {
      started = true
      scheduleSweep()
    },
    stop: () => {
      started = false
      cancel()
    },
  }
}
