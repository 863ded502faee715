/**
 * The door of one Dock for git: a listener on the gateway address of this Dock alone, which the packet rules open to its
 * interface and no other. So whoever connects is that Dock. The agent reads nothing of what is said here.
 */
import { createServer, type Socket } from 'node:net'
import type { Logger } from '@dock/foundation'
import { gitDoorPort } from '../network/filter-rules.ts'

/** Connections of one Dock at once. */
export const connectionsMax = 32
/** New connections of one Dock: a burst, and what comes back each second. */
const burst = 100
const perSecond = 5

/** Whether one more may come now. */
const createAllowance = (): (() => boolean) => {
  let left = burst
  let at = performance.now()
  return () => {
    const now = performance.now()
    left = Math.min(burst, left + ((now - at) / 1000) * perSecond)
    at = now
    if (left < 1) return false
    left -= 1
    return true
  }
}

export type GitDoor = { close(): void }

export type GitDoorOptions = {
  /** The Dock's gateway address. */
  address: string
  logger: Logger
  /** Takes a connection, which is paused. */
  take(socket: Socket): void
  /** The port of all Docks unless said. */
  port?: number
}

/** Rejects when the address cannot be bound. */
export const openGitDoor = async (options: GitDoorOptions): Promise<GitDoor & { port: number }> => {
  const { address, logger, take, port = gitDoorPort } = options
  const mayConnect = createAllowance()
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    if (!mayConnect()) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    take(socket)
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
      for (const socket of sockets) socket.destroy()
    },
  }
}
