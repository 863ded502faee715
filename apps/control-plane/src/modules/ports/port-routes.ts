/**
 * Routes by label, remembered: a request to a Dock asks the database nothing. A notice forgets one label, a notice
 * without a name all of them; and none is believed for long, in case a notice was lost.
 */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import { findRoute, type PortRoute } from './port-store.ts'

const believedMs = 10_000
/** Labels that are remembered at most, so that made-up ones fill no memory. */
const rememberedMax = 10_000

export type PortRoutes = {
  /** Null for a label that nobody has. What is answered, no notice had overtaken. */
  find(label: string): Promise<PortRoute | null>
  /** A notice of the channel `port_routes`. */
  notice(label?: string): void
}

type Remembered = { route: Promise<PortRoute | null>; until: number; isOvertaken: boolean }

export function createPortRoutes({ db, clock }: { db: Db; clock: Clock }): PortRoutes {
  const remembered = new Map<string, Remembered>()
  const find = (label: string): Promise<PortRoute | null> => {
    const now = clock.now().getTime()
    const known = remembered.get(label)
    if (known && known.until > now) return known.route
    const route = findRoute(db, label).then((found) => (entry.isOvertaken ? find(label) : found))
    const entry: Remembered = { route, until: now + believedMs, isOvertaken: false }
    remembered.delete(label)
    remembered.set(label, entry)
    route.catch(() => {
      if (remembered.get(label) === entry) remembered.delete(label)
    })
    if (remembered.size > rememberedMax) {
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    }
    return route
  }
  return {
    find,
    notice: (label) => {
      for (const each of label === undefined ? [...remembered.keys()] : [label]) {
        const entry = remembered.get(each)
        if (entry) entry.isOvertaken = true
        remembered.delete(each)
      }
    },
  }
}
