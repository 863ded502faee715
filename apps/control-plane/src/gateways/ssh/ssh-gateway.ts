/** Listens for SSH connections, admits them, and ends those that do not sign in. */
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net'
import { limits } from '@dock/contract'
import { networkOf, runDescribed, unmapAddress, wideNetworkOf } from '@dock/foundation'
import {
  type AcceptedClient,
  type ClientConnection,
  createBufferBudget,
  createSshServer,
  type SshServer,
} from '@dock/ssh-server'
import type { SshHostKey } from '../../modules/keys/index.ts'
import { createAdmission } from './admission.ts'
import type { Entrance } from './find-entrance.ts'
import { serveConnection } from './serve-connection.ts'
import { createSignIn } from './sign-in.ts'
import type { SshContext } from './ssh-context.ts'

export type SshGateway = {
  /** Listens on an address, or on an inherited socket. Resolves with the port. */
  listen(where: ListenOptions | { fd: number }): Promise<number>
  /** Reads the host keys again. Connections that are open keep theirs. */
  noticeHostKeys(): void
  /** Stops listening and ends every connection. */
  close(): void
}

const keepaliveMs = 20_000
const missedKeepalivesMax = 3
/**
 * The version that the gateway announces. OpenSSH clients send two requests only to servers whose version begins with
 * `OpenSSH_`: that the client no longer reads a session's output, and that it will open no more sessions. Clients work
 * around bugs of some OpenSSH versions. They know none of 9.9.
 */
const softwareVersion = 'OpenSSH_9.9 Dock'

/** Names the connections in the log. */
const describe = () => ({ gateway: 'ssh' })

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
  const sockets = new Map<Socket, AcceptedClient | undefined>()
  const listening: Server[] = []
  let ssh: SshServer | undefined

  const prepareSsh = async (): Promise<void> => {
    const keys = await readHostKeys()
    ssh = createSshServer({
      hostKeys: keys.map(({ privateKey }) => privateKey),
      softwareVersion,
      keepaliveMs,
      missedKeepalivesMax,
      signInAttemptsMax: limits.ssh.loginAttemptsMax,
      clock,
    })
  }

  /** Signs the client in. `leave` removes the connection from those that are not signed in. */
  const handshake = (server: SshServer, socket: Socket, leave: () => void): void => {
    let entered: Entrance | undefined
    const cancelLogin = clock.after(limits.ssh.loginSeconds * 1000, () => socket.destroy())
    socket.once('close', () => {
      cancelLogin()
      leave()
    })
    const onSignedIn = (connection: ClientConnection): void => {
      cancelLogin()
      leave()
      if (!entered) return void socket.destroy()
      const { userId } = entered.caller
      const signOut = admission.signIn(userId)
      if (!signOut) return void connection.end()
      socket.once('close', signOut)
      serveConnection(context, connection, socket, entered, connection.joinBudget(budget, userId))
    }
    const client = server.accept(socket, {
      signIn: createSignIn(context, (entrance) => {
        entered = entrance
        entrance.caller.address = unmapAddress(socket.remoteAddress ?? '')
      }),
      onKeyRefused: () => metrics.login('refused'),
      onSignedIn,
      onError: (error) => logger.debug({ err: error }, 'an SSH connection failed'),
      onFault: (error) => logger.error({ err: error }, 'an SSH login failed'),
    })
    sockets.set(socket, client)
  }

  const accept = async (socket: Socket): Promise<void> => {
    const address = networkOf(socket.remoteAddress ?? '')
    const network = wideNetworkOf(socket.remoteAddress ?? '')
    const leave = admission.enter(address, network)
    if (!leave || !ssh) {
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
    handshake(ssh, socket, leave)
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
      await prepareSsh()
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
      if (!ssh) return
      prepareSsh().catch((error: unknown) =>
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
