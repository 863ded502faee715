/**
 * The door of one Dock for git: a listener on the gateway address of this Dock alone, which the packet rules open to its
 * interface and no other. So whoever connects is that Dock. The agent reads nothing of what is said here.
 */
import { createServer, type Socket } from 'node:net'
import { type Clock, type Logger, systemClock } from '@dock/foundation'
import { gitDoorPort } from '../network/filter-rules.ts'
import { createConnectionTurns } from './connection-turns.ts'

/** Connections of one Dock at once, with those that wait for their turn. */
export const connectionsMax = 32

export type GitDoor = { close(): void }

export type GitDoorOptions = {
  /** The Dock's gateway address. */
  address: string
  logger: Logger
  clock?: Clock
  /** Takes a connection, which is paused. */
  take(socket: Socket): void
  /** The port of all Docks unless said. */
  port?: number
}

/** Rejects when the address cannot be bound. */
export async function openGitDoor(options: GitDoorOptions): Promise<GitDoor & { port: number }> {
  const { address, logger, take, clock = systemClock, port = gitDoorPort } = options
  const turns = createConnectionTurns(clock)
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    sockets.add(socket)
    const giveUp = turns.take(() => take(socket))
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
  server.on('error', (error: Error) => logger.warn({ err: error }, 'git door'))
  server.unref()
  const bound = server.address()
  return {
    port: bound && typeof bound === 'object' ? bound.port : port,
    close: () => {
      server.close()
      turns.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
