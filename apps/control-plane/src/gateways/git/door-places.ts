/**
 * How many connections of git are served at once. A connection may be slow for as long as git is, so what one Dock or one
 * organization holds must leave room for all others: each Dock has a few places of its own, and shares the rest.
 */
import type { BootedDock, OrganizationOf } from '../../modules/docks/index.ts'
import { DoorRefusal } from './door-refusal.ts'

/** Of one Dock: those that are told of, those that are served, and those that are served however much others do. */
const toldOfDockMax = 32
const servedOfDockMax = 16
const ownOfDock = 4
/** Served beyond the Docks' own places: on one host and in all, and what of both one organization may hold. */
const sharedOfHostMax = 256
const sharedMax = 1024
const organizationOnHostMax = sharedOfHostMax / 2
const organizationMax = sharedMax / 4
/** Those of one organization that are being refused. More are not taken, and closed by their host in a while. */
const refusedOfOrganizationMax = 64
/** Docks of one host whose organization is being looked up. */
const lookupsOfHostMax = 256

export type Place = {
  /** Why the connection is not served; null when it is. */
  refusal: DoorRefusal | null
  leave(): void
}

export type DoorPlaces = {
  /** Returns a place for one more connection, or null when the connection is not to be asked for. */
  take(dock: BootedDock): Promise<Place | null>
}

type Served = {
  organizationId: Promise<string | null>
  told: number
  served: number
  /** Of its own places. */
  own: number
}

/** How often each key counts at present. */
const createTally = () => {
  const counts = new Map<string, number>()
  const of = (key: string): number => counts.get(key) ?? 0
  return {
    of,
    /** Counts each key once more, until the returned function is called. */
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

  /** Counts a connection in what is shared; returns null where that is full, and why. */
  const share = ({ hostId }: BootedDock, organizationId: string): (() => void) | { full: string } => {
    const host = `host ${hostId}`
    const organization = `organization ${organizationId}`
    const organizationOnHost = `${organization} on ${host}`
    if (tally.of(organization) >= organizationMax || tally.of(organizationOnHost) >= organizationOnHostMax)
      return { full: 'The Docks of this organization do very much with git at present.' }
    if (tally.of('all') >= sharedMax || tally.of(host) >= sharedOfHostMax)
      return { full: 'Many Docks use git at present.' }
    return tally.add('all', host, organization, organizationOnHost)
  }

  const place = (dock: BootedDock, ofDock: Served, organizationId: string): Place | null => {
    if (ofDock.served >= servedOfDockMax)
      return refuse(organizationId, 429, `A Dock does ${servedOfDockMax} requests of git at once. Try again.`)
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
