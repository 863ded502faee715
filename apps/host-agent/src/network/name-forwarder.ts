/**
 * Relays DNS between Docks and the host's resolvers, packet for packet, reading none of it. Bounded for each Dock and
 * in all: what is over the bound is dropped, and the asker asks again.
 */
import { createSocket, type RemoteInfo } from 'node:dgram'
import { readFile } from 'node:fs/promises'
import { createServer, isIPv6, connect as openConnection, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { Logger } from '@dock/foundation'

export type NameForwarder = { close(): Promise<void> }

export type NameForwarderOptions = {
  address: string
  logger: Logger
  /** 53 unless said. */
  port?: number
  /** Where the resolvers stand, as in resolv.conf(5); read again as it changes. */
  resolvConf?: string
  /** The resolvers' port, 53 unless said. */
  resolverPort?: number
}

const queryTimeoutMs = 5_000
const secondResolverAfterMs = 1_500
const connectionIdleMs = 10_000
/** Each asker has so many for itself, and up to so many in all as long as the shared ones last. */
const askedBound = { shared: 512, reserved: 8, byOne: 64 }
const connectionsBound = { shared: 256, reserved: 2, byOne: 16 }
const receiveBufferBytes = 1024 * 1024
const resolversStaleMs = 2_000

/** Counts what is under way for each asker. What is reserved for one is not another's to use up. */
const createBound = ({ shared, reserved, byOne }: typeof askedBound) => {
  const counts = new Map<string, number>()
  let sharedInUse = 0
  return {
    /** Answers the release, or undefined when it would be too much. */
    enter: (asker: string): (() => void) | undefined => {
      const count = counts.get(asker) ?? 0
      if (count >= byOne) return undefined
      const isShared = count >= reserved
      if (isShared && sharedInUse >= shared) return undefined
      if (isShared) sharedInUse += 1
      counts.set(asker, count + 1)
      let isReleased = false
      return () => {
        if (isReleased) return
        isReleased = true
        const left = (counts.get(asker) ?? 1) - 1
        // Whichever ends, what is left above the reservation is what is shared.
        if (left >= reserved) sharedInUse -= 1
        if (left === 0) counts.delete(asker)
        else counts.set(asker, left)
      }
    },
  }
}

const createResolvers = (path: string) => {
  let known: string[] = []
  let readAt = Number.NEGATIVE_INFINITY
  return async (): Promise<string[]> => {
    if (performance.now() - readAt < resolversStaleMs) return known
    const text = await readFile(path, 'utf8').catch(() => '')
    known = [...text.matchAll(/^\s*nameserver\s+(\S+)/gm)].map((match) => match[1] ?? '').slice(0, 3)
    readAt = performance.now()
    return known
  }
}

/** Asks one resolver, and after a while the next; the first answer wins. Always calls `done`, once. */
const ask = (
  query: Buffer,
  resolvers: readonly string[],
  port: number,
  answer: (bytes: Buffer) => void,
  done: () => void,
): void => {
  const sockets: ReturnType<typeof createSocket>[] = []
  const timers: NodeJS.Timeout[] = []
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    for (const timer of timers) clearTimeout(timer)
    for (const socket of sockets) socket.close()
    done()
  }
  resolvers.forEach((resolver, index) => {
    const start = (): void => {
      // A socket for each question: its port is as hard to guess as the question's id.
      const socket = createSocket(isIPv6(resolver) ? 'udp6' : 'udp4')
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('message', (bytes) => {
        if (isOver) return
        answer(bytes)
        end()
      })
      // A resolver without a route is a failed connect, and a send on such a socket would throw.
      socket.connect(port, resolver, (error?: Error) => {
        if (!error && !isOver) socket.send(query, () => undefined)
      })
    }
    if (index === 0) start()
    else timers.push(setTimeout(start, index * secondResolverAfterMs))
  })
  timers.push(setTimeout(end, queryTimeoutMs))
}

/** Listens on UDP and TCP. Rejects when the address cannot be bound. */
export async function startNameForwarder(options: NameForwarderOptions): Promise<NameForwarder> {
  const { address, logger, port = 53, resolverPort = 53 } = options
  const resolvers = createResolvers(options.resolvConf ?? '/etc/resolv.conf')
  const asked = createBound(askedBound)
  const connected = createBound(connectionsBound)
  const connections = new Set<Socket>()

  const udp = createSocket({ type: 'udp4', recvBufferSize: receiveBufferBytes })
  udp.on('message', (query: Buffer, from: RemoteInfo) => {
    const release = asked.enter(from.address)
    if (!release) return
    const answer = (bytes: Buffer): void => udp.send(bytes, from.port, from.address, () => undefined)
    void resolvers().then((list) => ask(query, list, resolverPort, answer, release))
  })

  const tcp = createServer({ pauseOnConnect: true }, (asker) => {
    asker.on('error', () => undefined)
    const release = connected.enter(asker.remoteAddress ?? '')
    if (!release) {
      asker.destroy()
      return
    }
    connections.add(asker)
    asker.once('close', () => {
      connections.delete(asker)
      release()
    })
    asker.setTimeout(connectionIdleMs, () => asker.destroy())
    void resolvers().then(([resolver]) => {
      if (!resolver || asker.destroyed) {
        asker.destroy()
        return
      }
      const upstream = openConnection({ host: resolver, port: resolverPort })
      upstream.setTimeout(connectionIdleMs, () => upstream.destroy())
      pipeline(asker, upstream, asker, () => {
        upstream.destroy()
        asker.destroy()
      })
    })
  })

  await new Promise<void>((resolve, reject) => {
    udp.once('error', reject)
    udp.bind({ address, port, exclusive: true }, resolve)
  })
  try {
    await new Promise<void>((resolve, reject) => {
      tcp.once('error', reject)
      tcp.listen({ host: address, port }, resolve)
    })
  } catch (error) {
    udp.close()
    throw error
  }
  for (const listener of [udp, tcp]) {
    listener.on('error', (error: Error) => logger.warn({ err: error }, 'name forwarder'))
    listener.unref()
  }
  return {
    close: async () => {
      for (const connection of connections) connection.destroy()
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ])
    },
  }
}
