/**
 * Limits how many git connections are served at once. A slow client can keep a connection open for long, so no Dock and no
 * organization may use all places. Each Dock has a few places of its own, and shares the rest with all others.
 */
import type { BootedDock, OrganizationOf } from '../../modules/docks/index.ts'
import { DoorRefusal } from './door-refusal.ts'

/** Connections of one Dock: pending and served; served; and places of its own that no other Dock can use. */
const toldOfDockMax = 32
const servedOfDockMax = 16
const ownOfDock = 4
/** Shared places: per host, in all, and how many of each one organization may use. */
const sharedOfHostMax = 256
const sharedMax = 1024
const organizationOnHostMax = sharedOfHostMax / 2
const organizationMax = sharedMax / 4
/** Refusals of one organization in progress. Further connections are ignored, and their host closes them. */
const refusedOfOrganizationMax = 64
/** Maximum of concurrent organization lookups for the Docks of one host. */
const lookupsOfHostMax = 256

export type Place = {
  /** Why the connection is refused; null if it is served. */
  refusal: DoorRefusal | null
  leave(): void
}

export type DoorPlaces = {
  /** Returns a place for a connection, or null if the connection must be ignored. */
  take(dock: BootedDock): Promise<Place | null>
}

type Served = {
  organizationId: Promise<string | null>
  told: number
  served: number
  /** Used places of its own. */
  own: number
}

/** Counts keys. */
const createTally = () => {
  const counts = new Map<string, number>()
  const of = (key: string): number => counts.get(key) ?? 0
  return {
    of,
    /** Increments the count of each key until the returned function is called. */
    add: (...keys: string[]): (() => void) => {
      for (const key of keys) counts.set(key, of(key) + 1)
      return () => {
        for (const key of keys) {
          const left = of(key) - 1
          if (left > 0) counts.set(key, left)
          else counts.delete(key)
        }
      }
    },
  }
}

export function createDoorPlaces(organizationOf: OrganizationOf): DoorPlaces {
  const docks = new Map<string, Served>()
  const tally = createTally()

  const lookUp = (dock: BootedDock): Served | null => {
    const lookups = `lookups of ${dock.hostId}`
    if (tally.of(lookups) >= lookupsOfHostMax) return null
    const organizationId = organizationOf(dock).finally(tally.add(lookups))
    return { organizationId, told: 0, served: 0, own: 0 }
  }

  const refuse = (organizationId: string, status: number, message: string): Place | null => {
    const refused = `refused of ${organizationId}`
    if (tally.of(refused) >= refusedOfOrganizationMax) return null
    return { refusal: new DoorRefusal(status, message), leave: tally.add(refused) }
  }

  /** Takes a shared place and returns its release. Returns the reason if no place is free. */
  const share = ({ hostId }: BootedDock, organizationId: string): (() => void) | { full: string } => {
    const host = `host ${hostId}`
    const organization = `organization ${organizationId}`
    const organizationOnHost = `${organization} on ${host}`
    if (tally.of(organization) >= organizationMax || tally.of(organizationOnHost) >= organizationOnHostMax)
      return { full: 'The Docks of this organization have too many git connections.' }
    if (tally.of('all') >= sharedMax || tally.of(host) >= sharedOfHostMax)
      return { full: 'There are too many git connections.' }
    return tally.add('all', host, organization, organizationOnHost)
  }

  const place = (dock: BootedDock, ofDock: Served, organizationId: string): Place | null => {
    if (ofDock.served >= servedOfDockMax)
      return refuse(
        organizationId,
        429,
        `A Dock may have ${servedOfDockMax} git connections at once. Try again.`,
      )
    if (ofDock.own < ownOfDock) {
      ofDock.own += 1
      ofDock.served += 1
      return {
        refusal: null,
        leave: () => {
          ofDock.own -= 1
          ofDock.served -= 1
        },
      }
    }
    const shared = share(dock, organizationId)
    if (typeof shared === 'object')
      return refuse(organizationId, 503, `${shared.full} Try again in a moment.`)
    ofDock.served += 1
    return {
      refusal: null,
      leave: () => {
        shared()
        ofDock.served -= 1
      },
    }
  }

  return {
    take: async (dock) => {
      const key = `${dock.hostId}/${dock.dockId}/${dock.generation}`
      const ofDock = docks.get(key) ?? lookUp(dock)
      if (!ofDock || ofDock.told >= toldOfDockMax) return null
      docks.set(key, ofDock)
      ofDock.told += 1
      const forget = (): void => {
        ofDock.told -= 1
        if (ofDock.told === 0) docks.delete(key)
      }
      let taken: Place | null = null
      try {
        const organizationId = await ofDock.organizationId
        taken = organizationId === null ? null : place(dock, ofDock, organizationId)
      } finally {
        if (!taken) forget()
      }
      if (!taken) return null
      const { refusal, leave } = taken
      return {
        refusal,
        leave: () => {
          leave()
          forget()
        },
      }
    },
  }
}
