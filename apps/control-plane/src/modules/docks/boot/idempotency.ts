/** One Dock for one key: what a repeated create or branch is answered. */
import { createHmac } from 'node:crypto'
import { type Dock, limits, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { batchRows, deleteBatches } from '../../../database/delete-batches.ts'
import { type CreateContext, findDock } from '../core/dock-store.ts'
import type { DockContext } from '../dock-context.ts'
import { viewDock } from '../view/dock-view.ts'
import { NotClaimed } from './claim-start.ts'

/** JSON with the keys of every object in order, so that equal bodies have equal texts. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

/** Keyed, because bodies hold secrets: who reads the database cannot try values against it. */
export function fingerprintOf(key: Buffer, route: string, body: unknown): Buffer {
  return createHmac('sha256', key)
    .update(`${route}\n${canonical(body)}`)
    .digest()
}

/** Keys older than this are free again. */
export function keysSince(now: Date): Date {
  return new Date(now.getTime() - limits.idempotencyKeepSeconds * 1000)
}

/** The Dock of an earlier call with the key, or null when there was none. Throws the two idempotency codes. */
const replayedDock = (context: CreateContext, fingerprint: Buffer): string | null => {
  if (!context.keyFingerprint) return null
  if (!context.keyFingerprint.equals(fingerprint)) throw new ServiceError('idempotency_key_reused')
  if (context.keyOperationActive) throw new ServiceError('idempotency_in_progress')
  return context.keyDockId
}

/**
 * Answers the Dock that the key stands for as it is now, `dock_not_found` once it was deleted; otherwise what `make`
 * makes. It answers null when another call with the key was quicker.
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
    // What stands in the way (a limit, the host's room, the name) may be the Dock that another call with the key has
    // just claimed.
    made = error instanceof NotClaimed ? await replayOther() : null
    if (!made) throw error
  }
  if (made) return made
  const first = await replayOther()
  if (!first) throw new ServiceError('idempotency_in_progress')
  return first
}

/** Removes the keys of every tenant whose day is over. */
export async function dropOldKeys(db: Db, now: Date): Promise<void> {
  await deleteBatches(
    db,
    sql`delete from idempotency_keys where (organization_id, key) in (select organization_id, key
      from idempotency_keys where created_at <= ${keysSince(now)} limit ${batchRows})
      and created_at <= ${keysSince(now)}`,
  )
}
