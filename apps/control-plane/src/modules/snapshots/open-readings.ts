/**
 * Limits of concurrent reads of Snapshots in this process, by person, organization and host. Each read keeps a process on
 * the host until the reader is done. If a host is at its limit, a newcomer stops a read of somebody who holds more of the
 * host, or a slow read.
 */
import { limits, ServiceError } from '@dock/contract'
import { type Clock, systemClock } from '@dock/foundation'

const { openPerUserMax, openPerHostMax, openPerHostAndOrganizationMax } = limits.snapshotReadings
const { fairSecondsMin, slowSecondsMin, slowBytesPerSecond } = limits.snapshotReadings

/** Who reads. */
export type ReadingParty = { userId: string; organizationId: string }

/** The place of a read on a host. */
export type HostReading = {
  end(): void
  /** Records bytes that the reader took. */
  took(bytes: number): void
  /** From now on the place may be given to another reader. `stopRead` must end the read. */
  allowDisplacement(stopRead: () => void): void
}

export type OpenReadings = {
  /** Counts a read of the person until the returned function is called. Throws `rate_limited` above the limit. */
  ofUser(userId: string): () => void
  /** Counts a read from the host, and of the organization from that host, in the same way. */
  ofHost(hostId: string, party: ReadingParty): HostReading
}

const createCounts = (max: number, refusal: string): ((key: string) => () => void) => {
  const open = new Map<string, number>()
  return (key) => {
    const count = open.get(key) ?? 0
    if (count >= max) throw new ServiceError('rate_limited', { message: refusal })
    open.set(key, count + 1)
    let ended = false
    return () => {
      if (ended) return
      ended = true
      const left = (open.get(key) ?? 1) - 1
      if (left > 0) open.set(key, left)
      else open.delete(key)
    }
  }
}

type Open = ReadingParty & {
  startedAt: number
  bytes: number
  stopRead: (() => void) | undefined
  end(): void
}

/** How many reads of the host the party has open, as a person or as an organization. */
const weightOf = (open: Iterable<Open>, party: ReadingParty): number => {
  const all = [...open]
  return Math.max(
    all.filter(({ userId }) => userId === party.userId).length,
    all.filter(({ organizationId }) => organizationId === party.organizationId).length,
  )
}

/** Returns the slowest read that yields to the party, if there is one. */
const findDisplaced = (open: ReadonlySet<Open>, party: ReadingParty, now: number): Open | undefined => {
  const weight = weightOf(open, party) + 1
  const rate = ({ bytes, startedAt }: Open): number => bytes / Math.max((now - startedAt) / 1000, 1)
  return [...open]
    .filter((each) => {
      const seconds = (now - each.startedAt) / 1000
      if (!each.stopRead) return false
      if (weightOf(open, each) > weight) return seconds >= fairSecondsMin
      return weight === 1 && seconds >= slowSecondsMin && rate(each) < slowBytesPerSecond
    })
    .sort((one, other) => rate(one) - rate(other))[0]
}

export function createOpenReadings(clock: Clock = systemClock): OpenReadings {
  const ofOrganization = createCounts(
    openPerHostAndOrganizationMax,
    `Your organization is reading ${openPerHostAndOrganizationMax} files or lists from the host of this Snapshot, which is the limit. Wait until one read ends and try again.`,
  )
  const hosts = new Map<string, Set<Open>>()
  const nowMs = (): number => clock.now().getTime()

  /** Returns the open reads of the host, with a place for the party. Throws `rate_limited`. */
  const makePlace = (hostId: string, party: ReadingParty): Set<Open> => {
    const open = hosts.get(hostId) ?? new Set()
    if (open.size >= openPerHostMax) {
      const displaced = findDisplaced(open, party, nowMs())
      if (!displaced)
        throw new ServiceError('rate_limited', {
          message:
            'Too many files are being read from the host of this Snapshot. Wait a moment and try again.',
        })
      displaced.end()
      displaced.stopRead?.()
    }
    hosts.set(hostId, open)
    return open
  }

  return {
    ofUser: createCounts(
      openPerUserMax,
      `You are reading ${openPerUserMax} files or lists of Snapshots, which is the limit. Wait until one read ends and try again.`,
    ),
    ofHost: (hostId, party) => {
      const endOfOrganization = ofOrganization(`${hostId}/${party.organizationId}`)
      try {
        const open = makePlace(hostId, party)
        const end = (): void => {
          endOfOrganization()
          if (open.delete(reading) && open.size === 0) hosts.delete(hostId)
        }
        const reading: Open = { ...party, startedAt: nowMs(), bytes: 0, stopRead: undefined, end }
        open.add(reading)
        return {
          end,
          took: (bytes) => {
            reading.bytes += bytes
          },
          allowDisplacement: (stopRead) => {
            reading.stopRead = stopRead
          },
        }
      } catch (error) {
        endOfOrganization()
        throw error
      }
    },
  }
}
