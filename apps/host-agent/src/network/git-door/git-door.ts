/**
 * The git door of one Dock: a TCP listener on the Dock's own gateway address. The packet filter admits only the Dock's
 * network interface, so every connection comes from that Dock. The agent does not interpret the bytes.
 */
import { createServer, type Socket } from 'node:net'
import { type Clock, type Logger, systemClock } from '@dock/foundation'
import { gitDoorPort } from '../filter-rules.ts'
import { createConnectionLimiter } from './connection-limiter.ts'

/** Maximum number of connections of one Dock, including those that wait for the rate limit. */
export const connectionsMax = 32

export type GitDoor = { close(): void }

export type GitDoorOptions = {
  /** The Dock's gateway address. */
  address: string
  logger: Logger
  clock?: Clock
  /** Takes over a connection, which is paused. */
  take(socket: Socket): void
  /** Default: the git door port of all Docks. */
  port?: number
}

/** Opens the door. Rejects if the address cannot be bound. */
export async function openGitDoor(options: GitDoorOptions): Promise<GitDoor & { port: number }> {
  const { address, logger, take, clock = systemClock, port = gitDoorPort } = options
  const limiter = createConnectionLimiter(clock)
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    sockets.add(socket)
    const giveUp = limiter.take(() => take(socket))
    socket.once('close', () => {
      giveUp()
      sockets.delete(socket)
    })
  })
  server.maxConnections = connectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: address, port, exclusive: true }, resolve)
  })
  server.on('error', (error: Error) => logger.warn({ err: error }, 'the git door of a Dock failed'))
  server.unref()
  const bound = server.address()
  return {
    port: bound && typeof bound === 'object' ? bound.port : port,
    close: () => {
      server.close()
      limiter.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
