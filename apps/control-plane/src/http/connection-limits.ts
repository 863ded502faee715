/**
 * Limits the connections of callers and visitors: all together, and those of one address. Without it one address takes
 * every descriptor of the process, which the streams of Docks, the database and SSH need too.
 */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { networkOf } from '@dock/foundation'

/** `perLoopback` is the share of each address of this machine: a proxy there may not be in the list of trusted ones. */
export type ConnectionShares = { total: number; perAddress: number; perLoopback: number }

const totalMax = 20_000
/** A visitor of a port needs a second descriptor, that of the stream to its Dock. */
const shareOfDescriptors = 0.4
const tellEveryMs = 60_000
const perAddress = { min: 64, max: 1_000, share: 1 / 8 }

/** Returns how many files this process may have open. */
const readDescriptorLimit = (): number => {
  const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return soft === undefined ? Number.POSITIVE_INFINITY : Number(soft)
}

/** Divides the descriptors of the process. */
export function shareConnections(descriptors = readDescriptorLimit()): ConnectionShares {
  const total = Math.min(totalMax, Math.floor(descriptors * shareOfDescriptors))
  const ofAddress = Math.min(perAddress.max, Math.floor(total * perAddress.share))
  return { total, perAddress: Math.max(perAddress.min, ofAddress), perLoopback: Math.floor(total / 2) }
}

export type ConnectionLimits = {
  /** Counts a connection until it closes. Destroys it if there are too many. */
  admit(socket: Socket): void
  /** Ends the counting of a connection that a host has proved to be its own. */
  release(socket: object): void
}

const isLoopback = (network: string): boolean => network.startsWith('127.') || network === '0:0:0:0::/64'

/**
 * Connections of a trusted proxy, which carry many visitors, count in the total alone. `onRefused` is called with the
 * network of a connection that was destroyed, at most once a minute.
 */
export function createConnectionLimits(options: {
  shares: ConnectionShares
  isTrustedProxy(address: string): boolean
  onRefused(network: string): void
}): ConnectionLimits {
  const { shares, isTrustedProxy, onRefused } = options
  const open = new Map<string, number>()
  const releases = new WeakMap<object, () => void>()
  let total = 0
  let toldAt = Number.NEGATIVE_INFINITY
  const tell = (network: string): void => {
    if (performance.now() - toldAt < tellEveryMs) return
    toldAt = performance.now()
    onRefused(network)
  }

  return {
    admit: (socket) => {
      const address = socket.remoteAddress ?? ''
      const network = networkOf(address)
      const share = isLoopback(network) ? shares.perLoopback : shares.perAddress
      const ofNetwork = open.get(network) ?? 0
      if (total >= shares.total || (ofNetwork >= share && !isTrustedProxy(address))) {
        socket.destroy()
        return tell(network)
      }
      total += 1
      open.set(network, ofNetwork + 1)
      const release = (): void => {
        if (!releases.delete(socket)) return
        total -= 1
        const rest = (open.get(network) ?? 1) - 1
        if (rest > 0) open.set(network, rest)
        else open.delete(network)
      }
      releases.set(socket, release)
      socket.once('close', release)
    },
    release: (socket) => releases.get(socket)?.(),
  }
}
