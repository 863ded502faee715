/**
 * Caches routes by label, so that most requests to a Dock need no database query. A notice invalidates one label or all
 * of them. Entries also expire, in case a notice was lost.
 */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { findRoute, type PortRoute } from './port-store.ts'

const entryTtlMs = 10_000
/** Maximum number of entries. Requests with made-up labels also create entries. */
const entriesMax = 10_000

export type PortRoutes = {
  /** Returns null for an unknown label. Reads a route again if a notice invalidated it while it was being read. */
  find(label: string): Promise<PortRoute | null>
  /** Handles a notification of the channel `port_routes`. Without a label it invalidates all entries. */
  notice(label?: string): void
}

type CacheEntry = { route: Promise<PortRoute | null>; expiresAt: number; isInvalidated: boolean }

/** Creates the route cache of one process. */
export function createPortRoutes({ db, clock }: { db: Db; clock: Clock }): PortRoutes {
  const entries = new Map<string, CacheEntry>()
  const find = (label: string): Promise<PortRoute | null> => {
    const now = clock.now().getTime()
    const known = entries.get(label)
    if (known && known.expiresAt > now) return known.route
    const route = findRoute(db, label).then((found) => (entry.isInvalidated ? find(label) : found))
    const entry: CacheEntry = { route, expiresAt: now + entryTtlMs, isInvalidated: false }
    entries.delete(label)
    entries.set(label, entry)
    route.catch(() => {
      if (entries.get(label) === entry) entries.delete(label)
    })
    if (entries.size > entriesMax) {
      const [oldest] = entries.keys()
      if (oldest !== undefined) entries.delete(oldest)
    }
    return route
  }
  return {
    find,
    notice: (label) => {
      for (const each of label === undefined ? [...entries.keys()] : [label]) {
        const entry = entries.get(each)
        if (entry) entry.isInvalidated = true
        entries.delete(each)
      }
    },
  }
}
