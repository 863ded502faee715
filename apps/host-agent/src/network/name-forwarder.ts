/**
 * Relays DNS packets unchanged between Docks and the host's resolvers, and answers itself for `localhost`. Queries are limited per Dock and in all; those
 * above a limit are dropped, and clients retry.
 */
import { createSocket, type RemoteInfo } from 'node:dgram'
import { readFile } from 'node:fs/promises'
import { createServer, isIPv6, connect as openConnection, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { Logger } from '@dock/foundation'
import { answerLocalhost } from './localhost-answer.ts'

export type NameForwarder = { close(): Promise<void> }

export type NameForwarderOptions = {
  address: string
  logger: Logger
  /** Default 53. */
  port?: number
  /** Path of the file that lists the resolvers, see resolv.conf(5). Changes take effect within two seconds. */
  resolvConf?: string
  /** The resolvers' port. Default 53. */
  resolverPort?: number
}

const queryTimeoutMs = 5_000
const secondResolverAfterMs = 1_500
const connectionIdleMs = 10_000
/** Each Dock has `reserved` places of its own and may use shared ones, `byOne` in all. */
const askedBound = { shared: 512, reserved: 8, byOne: 64 }
const connectionsBound = { shared: 256, reserved: 2, byOne: 16 }
const receiveBufferBytes = 1024 * 1024
const resolversStaleMs = 2_000

/** Counts the queries in progress of each Dock. No Dock can use the reserved places of another. */
const createBound = ({ shared, reserved, byOne }: typeof askedBound) => {
  const counts = new Map<string, number>()
  let sharedInUse = 0
  return {
    /** Takes a place and returns its release. Returns undefined if the limit is reached. */
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
        // All of the Dock's places above its reservation are shared ones, regardless of which one is released.
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

/** Sends the query to the first resolver, and later to the others. The first response wins. Calls `done` exactly once. */
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
      // A new socket for each query: an attacker must guess its port too, not only the query's id.
      const socket = createSocket(isIPv6(resolver) ? 'udp6' : 'udp4')
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('message', (bytes) => {
        if (isOver) return
        answer(bytes)
        end()
      })
      // The connect fails if there is no route to the resolver, and a send on that socket would throw.
      socket.connect(port, resolver, (error?: Error) => {
        if (!error && !isOver) socket.send(query, () => undefined)
      })
    }
    if (index === 0) start()
    else timers.push(setTimeout(start, index * secondResolverAfterMs))
  })
  timers.push(setTimeout(end, queryTimeoutMs))
}

/** Listens on UDP and TCP. Throws if it cannot bind the address. */
export async function startNameForwarder(options: NameForwarderOptions): Promise<NameForwarder> {
  const { address, logger, port = 53, resolverPort = 53 } = options
  const resolvers = createResolvers(options.resolvConf ?? '/etc/resolv.conf')
  const asked = createBound(askedBound)
  const connected = createBound(connectionsBound)
  const connections = new Set<Socket>()
  let isClosed = false

  const udp = createSocket({ type: 'udp4', recvBufferSize: receiveBufferBytes })
  udp.on('message', (query: Buffer, from: RemoteInfo) => {
    // Port 0 cannot be answered: `send` would throw.
    const release = from.port === 0 ? undefined : asked.enter(from.address)
    if (!release) return
    const answer = (bytes: Buffer): void => {
      if (!isClosed) udp.send(bytes, from.port, from.address, () => undefined)
    }
    const own = answerLocalhost(query)
    if (own) {
      answer(own)
      return release()
    }
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
      isClosed = true
      for (const connection of connections) connection.destroy()
      await Promise.all([
        new Promise<void>((resolve) => udp.close(() => resolve())),
        new Promise<void>((resolve) => tcp.close(() => resolve())),
      ])
    },
  }
}
