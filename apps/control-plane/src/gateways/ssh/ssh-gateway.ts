/** Listens for SSH connections, admits them, and ends those that do not sign in. */
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { limits } from '@dock/contract'
import { networkOf, runDescribed, wideNetworkOf } from '@dock/foundation'
import ssh2, { type Connection } from 'ssh2'
import type { SshHostKey } from '../../modules/keys/index.ts'
import { createAdmission } from './admission.ts'
import { keyExchanges, offeredAlgorithms } from './algorithms.ts'
import { authenticate } from './authenticate.ts'
import { createBufferBudget } from './buffer-budget.ts'
import { explainLongPacket } from './explain-long-packet.ts'
import type { Entrance } from './find-entrance.ts'
import { guardChannels } from './guard-channels.ts'
import { takeLargePackets } from './large-packets.ts'
import { installPostQuantumExchange, registerPostQuantumExchange } from './post-quantum-exchange.ts'
import { preferGcm } from './prefer-gcm.ts'
import { serveConnection } from './serve-connection.ts'
import type { SshContext } from './ssh-context.ts'
import { writeWholePackets } from './write-whole-packets.ts'

export type SshGateway = {
  /** Listens on an address, or on an inherited socket. Resolves with the port. */
  listen(where: ListenOptions | { fd: number }): Promise<number>
  /** Reads the host keys again. Connections that are open keep theirs. */
  noticeHostKeys(): void
  /** Stops listening and ends every connection. */
  close(): void
}

/** Time for a client to read the last packets before its connection is cut. */
const lastPacketsMs = 2_000
const keepaliveMs = 20_000
const missedKeepalivesMax = 3
/**
 * What clients take the server for. OpenSSH tells only servers whose name begins so that it stopped reading, and that it
 * opens no more sessions. The number is one of which no client knows a bug.
 */
const softwareVersion = 'OpenSSH_9.9 Dock'

/** Names the connections in the log. */
const describe = () => ({ door: 'ssh' })

export function createSshGateway(
  options: SshContext & {
    /** Returns the host keys. Creates them at the first call. */
    readHostKeys(): Promise<SshHostKey[]>
  },
): SshGateway {
  const { readHostKeys, ...context } = options
  const { logger, metrics, docks } = context
  const { clock, rateLimits } = docks
  const admission = createAdmission()
  const budget = createBufferBudget(limits.ssh.bufferedBytesPerUserMax)
  const sockets = new Map<Socket, Connection | undefined>()
  const listening: Server[] = []
  /** What to do with the client of a socket. */
  const arriving = new WeakMap<object, (client: Connection) => void>()
  let handshakes: ssh2.Server | undefined

  const makeHandshakes = async (): Promise<void> => {
    registerPostQuantumExchange()
    const keys = await readHostKeys()
    const server = new ssh2.Server({
      hostKeys: keys.map(({ privateKey }) => privateKey),
      algorithms: offeredAlgorithms(),
      ident: softwareVersion,
      keepaliveInterval: keepaliveMs,
      keepaliveCountMax: missedKeepalivesMax,
    })
    // Emitted when the client has said which version it speaks, before its first packet is processed.
    server.on('connection', (client: Connection) => arriving.get(Reflect.get(client, '_sock'))?.(client))
    handshakes = server
  }

  const end = (client: Connection, socket: Socket): void => {
    client.end()
    const cancel = clock.after(lastPacketsMs, () => socket.destroy())
    socket.once('close', cancel)
  }

  /** Signs the client in. `leave` removes the connection from those that are not signed in. */
  const handshake = (server: ssh2.Server, socket: Socket, leave: () => void): void => {
    let entered: Entrance | undefined
    const cancelLogin = clock.after(limits.ssh.loginSeconds * 1000, () => socket.destroy())
    socket.once('close', () => {
      cancelLogin()
      leave()
    })
    const onClient = (client: Connection): void => {
      sockets.set(socket, client)
      installPostQuantumExchange(client, keyExchanges)
      writeWholePackets(client, socket)
      preferGcm(client, socket, clock)
      const joinBudget = guardChannels(client, socket, clock)
      const explain = explainLongPacket(client)
      client.on('error', (error) => {
        logger.debug({ err: error }, 'an SSH connection failed')
        explain(error)
        // ssh2 ends only its own half of the connection, and waits for a client that may never end the other.
        end(client, socket)
      })
      // The first exchange made the connection. Each costs more than a client pays for it, so strangers get no second one.
      const endStranger = (): void => void socket.destroy()
      client.once('rekey', endStranger)
      authenticate(context, client, (entrance) => {
        entered = entrance
      })
      client.once('ready', () => {
        client.off('rekey', endStranger)
        cancelLogin()
        leave()
        takeLargePackets(client)
        if (!entered) return void socket.destroy()
        const signOut = admission.signIn(entered.caller.userId)
        if (!signOut) return end(client, socket)
        socket.once('close', signOut)
        const { userId } = entered.caller
        const share = joinBudget((measure) => budget.join(userId, measure))
        socket.once('close', share.leave)
        serveConnection(context, client, socket, entered, share, () => end(client, socket))
      })
    }
    arriving.set(socket, onClient)
    server.injectSocket(socket)
  }

  const accept = async (socket: Socket): Promise<void> => {
    const address = networkOf(socket.remoteAddress ?? '')
    const network = wideNetworkOf(socket.remoteAddress ?? '')
    const leave = admission.enter(address, network)
    if (!leave || !handshakes) {
      leave?.()
      return void socket.destroy()
    }
    try {
      await rateLimits.take('sshConnections', address)
      await rateLimits.take('sshConnectionsPerNetwork', network)
    } catch {
      leave()
      return void socket.destroy()
    }
    if (socket.destroyed) return leave()
    handshake(handshakes, socket, leave)
  }
  const onConnection = (socket: Socket): void => {
    // Small packets are common, and each waits for an acknowledgement otherwise: a copy of 300 files took 54 s.
    socket.setNoDelay(true)
    sockets.set(socket, undefined)
    metrics.connections(sockets.size)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => {
      sockets.delete(socket)
      metrics.connections(sockets.size)
    })
    runDescribed(describe, () => accept(socket)).catch((error: unknown) => {
      logger.error({ err: error }, 'could not accept an SSH connection')
      socket.destroy()
    })
  }
  return {
    listen: async (where) => {
      await makeHandshakes()
      const server = createServer(onConnection)
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(where, () => {
          server.off('error', reject)
          resolve()
        })
      })
      listening.push(server)
      return (server.address() as AddressInfo).port
    },
    noticeHostKeys: () => {
      if (!handshakes) return
      makeHandshakes().catch((error: unknown) =>
        logger.error({ err: error }, 'could not read the SSH host keys; the former ones stay in use'),
      )
    },
    close: () => {
      for (const server of listening) server.close()
      for (const [socket, client] of sockets) {
        client?.end()
        socket.destroySoon()
      }
    },
  }
}
