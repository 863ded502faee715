/** Idempotency keys of create and branch: requests with the same key create one Dock. */
import { createHmac } from 'node:crypto'
import { type Dock, limits, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { batchRows, deleteInBatches } from '../../../database/delete-in-batches.ts'
import { type CreateContext, findDock } from '../core/dock-store.ts'
import type { DockContext } from '../dock-context.ts'
import { viewDock } from '../view/dock-view.ts'
import { RefusedBeforeClaim } from './claim-start.ts'

/** Serializes to JSON with sorted object keys, so that equal bodies give equal strings. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

/**
 * Returns the fingerprint of a request: an HMAC-SHA256 of its route and body. It is keyed because bodies contain
 * secrets, which somebody who can read the database could otherwise guess.
 */
export function fingerprintOf(key: Buffer, route: string, body: unknown): Buffer {
  return createHmac('sha256', key)
    .update(`${route}\n${canonical(body)}`)
    .digest()
}

/** Returns the time before which idempotency keys have expired and can be used again. */
export function keysSince(now: Date): Date {
  return new Date(now.getTime() - limits.idempotencyKeepSeconds * 1000)
}

/**
 * Returns the id of the Dock that an earlier request with the key created, or null if there was none. Throws
 * `idempotency_key_reused` or `idempotency_in_progress`.
 */
const replayedDock = (context: CreateContext, fingerprint: Buffer): string | null => {
  if (!context.keyFingerprint) return null
  if (!context.keyFingerprint.equals(fingerprint)) throw new ServiceError('idempotency_key_reused')
  if (context.keyOperationActive) throw new ServiceError('idempotency_in_progress')
  return context.keyDockId
}

/**
 * Returns the Dock that an earlier request with the key created, in its current state. If there was none, calls `make`,
 * which returns null if a concurrent request with the same key created the Dock first. Throws `dock_not_found` if the
 * Dock was deleted since.
 */
export async function makeDockOnce(
  { db }: Pick<DockContext, 'db'>,
  request: { known: CreateContext; fingerprint: Buffer; lookup(): Promise<CreateContext | null> },
  make: () => Promise<Dock | null>,
): Promise<Dock> {
  const replay = async (known: CreateContext): Promise<Dock | null> => {
    const id = replayedDock(known, request.fingerprint)
    if (id === null) return null
    const dock = await findDock(db, known.organizationId, id)
    if (!dock) throw new ServiceError('dock_not_found')
    return viewDock(dock)
  }
  const replayOther = async (): Promise<Dock | null> => {
    const taken = await request.lookup()
    return taken && replay(taken)
  }
  let made = await replay(request.known)
  try {
    made ??= await make()
  } catch (error) {
    // The refusal (quota, no room, name taken) may be due to the Dock that a concurrent request with the same key has
    // just created.
    made = error instanceof RefusedBeforeClaim ? await replayOther() : null
    if (!made) throw error
  }
  if (made) return made
  const first = await replayOther()
  if (!first) throw new ServiceError('idempotency_in_progress')
  return first
}

/** Deletes the expired keys of all organizations. */
export async function deleteExpiredKeys(db: Db, now: Date): Promise<void> {
  await deleteInBatches(
    db,
    sql`delete from idempotency_keys where (organization_id, key) in (select organization_id, key
      from idempotency_keys where created_at <= ${keysSince(now)} limit ${batchRows})
      and created_at <= ${keysSince(now)}`,
  )
}
