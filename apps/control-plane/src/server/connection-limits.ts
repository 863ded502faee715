/**
 * Limits the connections of callers and visitors: all together, and those of one address. Without it one address takes
 * every descriptor of the process, which the streams of Docks, the database and SSH need too.
 */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { networkOf, wideNetworkOf } from '@dock/foundation'

/**
 * `perLoopback` is the share of each address of this machine: a proxy there may not be in the list of trusted ones.
 * `perNetwork` is that of one sender who has many addresses.
 */
export type ConnectionShares = { total: number; perAddress: number; perNetwork: number; perLoopback: number }

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
  const half = Math.floor(total / 2)
  return { total, perAddress: Math.max(perAddress.min, ofAddress), perNetwork: half, perLoopback: half }
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
  const countOf = (network: string): number => open.get(network) ?? 0
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
      const wide = wideNetworkOf(address)
      const isFull = countOf(network) >= share || (!isLoopback(network) && countOf(wide) >= shares.perNetwork)
      if (total >= shares.total || (isFull && !isTrustedProxy(address))) {
        socket.destroy()
        return tell(network)
      }
      const count = (by: 1 | -1): void => {
        total += by
        for (const each of new Set([network, wide])) {
          const rest = countOf(each) + by
          if (rest > 0) open.set(each, rest)
          else open.delete(each)
        }
      }
      count(1)
      const release = (): void => {
        if (releases.delete(socket)) count(-1)
      }
      releases.set(socket, release)
      socket.once('close', release)
    },
    release: (socket) => releases.get(socket)?.(),
  }
}
