/** Speaks SSH with clients. What ssh2 lacks, and where it trusts clients too much, is amended here for every connection. */
import type { Socket } from 'node:net'
import type { Clock } from '@dock/foundation'
import ssh2, { type Connection } from 'ssh2'
import { keyExchanges, offeredAlgorithms } from './algorithms.ts'
import { createConnection } from './create-connection.ts'
import type { ClientHandlers } from './handlers.ts'
import { createSocketReceiver } from './patches/client-of-socket.ts'
import { createPacketExplainer } from './patches/explain-long-packet.ts'
import { guardChannels } from './patches/guard-channels.ts'
import { takeLargePackets } from './patches/large-packets.ts'
import { installPostQuantumExchange, registerPostQuantumExchange } from './patches/post-quantum-exchange.ts'
import { preferGcm } from './patches/prefer-gcm.ts'
import { writeWholePackets } from './patches/write-whole-packets.ts'
import { signClientIn } from './sign-in.ts'

export type SshServerOptions = {
  /** Private keys in OpenSSH's format, one of each type. */
  hostKeys: readonly string[]
  /** What clients take the server for. */
  softwareVersion: string
  keepaliveMs: number
  missedKeepalivesMax: number
  /** Keys that a client may ask about, and keys with which it may sign. */
  signInAttemptsMax: number
  clock: Clock
}

export type SshServer = {
  /** Speaks with the client of a socket until the socket closes. */
  accept(socket: Socket, handlers: ClientHandlers): AcceptedClient
}

export type AcceptedClient = {
  /** Sends what waits, and ends the connection. Cuts it after two seconds. */
  end(): void
}

/** Time for a client to read the last packets before its connection is cut. */
const lastPacketsMs = 2_000

export function createSshServer(options: SshServerOptions): SshServer {
  const { clock } = options
  registerPostQuantumExchange()
  const server = new ssh2.Server({
    hostKeys: [...options.hostKeys],
    algorithms: offeredAlgorithms(),
    ident: options.softwareVersion,
    keepaliveInterval: options.keepaliveMs,
    keepaliveCountMax: options.missedKeepalivesMax,
  })
  const receive = createSocketReceiver(server)

  const greet = (client: Connection, socket: Socket, handlers: ClientHandlers, end: () => void): void => {
    installPostQuantumExchange(client, keyExchanges)
    writeWholePackets(client, socket)
    preferGcm(client, socket, clock)
    const guard = guardChannels(client, socket, clock)
    const explain = createPacketExplainer(client)
    client.on('error', (error) => {
      handlers.onError(error)
      explain(error)
      // ssh2 ends only its own half of the connection, and waits for a client that may never end the other.
      end()
    })
    // The first exchange made the connection. Each costs more than a client pays for it, so strangers get no second one.
    const endStranger = (): void => void socket.destroy()
    client.once('rekey', endStranger)
    signClientIn(client, handlers, options.signInAttemptsMax)
    client.once('ready', () => {
      client.off('rekey', endStranger)
      takeLargePackets(client)
      handlers.onSignedIn(createConnection(client, socket, guard, end))
    })
  }

  return {
    accept: (socket, handlers) => {
      let client: Connection | undefined
      const end = (): void => {
        client?.end()
        const cancel = clock.after(lastPacketsMs, () => socket.destroy())
        socket.once('close', cancel)
      }
      receive(socket, (arrived) => {
        client = arrived
        greet(arrived, socket, handlers, end)
      })
      return { end }
    },
  }
}
