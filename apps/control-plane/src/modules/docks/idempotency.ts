/** One Dock for one key: what a repeated create or branch is answered. */
import { createHash } from 'node:crypto'
import { limits, ServiceError } from '@dock/contract'
import type { CreateContext } from './dock-store.ts'

/** JSON with the keys of every object in order, so that equal bodies have equal texts. */
const canonical = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(',')}}`
}

/** SHA-256 of the route, its target and its body. */
export const fingerprintOf = (route: string, body: unknown): Buffer =>
  createHash('sha256')
    .update(`${route}\n${canonical(body)}`)
    .digest()

/** Keys older than this are free again. */
export const keysSince = (now: Date): Date => new Date(now.getTime() - limits.idempotencyKeepSeconds * 1000)

/** The Dock of an earlier call with the key, or null when there was none. Throws the two idempotency codes. */
export const replayedDock = (context: CreateContext, fingerprint: Buffer): string | null => {
  if (!context.keyFingerprint) return null
  if (!context.keyFingerprint.equals(fingerprint)) throw new ServiceError('idempotency_key_reused')
  if (context.keyOperationActive) throw new ServiceError('idempotency_in_progress')
  return context.keyDockId
}
