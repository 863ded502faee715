/** For the tests of this package: a server, one client of ssh2 that is connected with it, and ssh2's object for that client. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Clock, systemClock } from '@dock/foundation'
import ssh2, { type Client, type ConnectConfig, type Connection } from 'ssh2'
import { type AcceptedClient, createSshServer } from '../create-ssh-server.ts'
import type { ClientConnection, ClientHandlers, RequestHandlers, SessionHandlers } from '../handlers.ts'
import { generateKeyPair } from '../keys/generate-key-pair.ts'

export const hostKey = generateKeyPair('ecdsa-sha2-nistp256')
export const clientKey = generateKeyPair('ecdsa-sha2-nistp256')

export type TestServer = {
  port: number
  /** Resolves with ssh2's object of the next client, and its socket. */
  arrival: Promise<{ peer: Connection; socket: Socket; accepted: AcceptedClient }>
  signedIn: Promise<ClientConnection>
  errors: Error[]
  stop(): void
}

export type TestServerOptions = {
  clock?: Clock
  handlers?: Partial<ClientHandlers>
  requests?: Partial<RequestHandlers>
}

/** A session that takes everything and runs nothing. */
export function idleSession(handlers: Partial<SessionHandlers> = {}): SessionHandlers {
  return {
    setVariable: () => true,
    setTerminal: () => undefined,
    resize: () => undefined,
    signal: () => undefined,
    offerAgent: () => undefined,
    start: (_program, accept) => {
      accept()
      return true
    },
    onOutputClosed: () => undefined,
    onClosed: () => undefined,
    ...handlers,
  }
}

/** Starts a server for one client, which signs in with {@link clientKey}. */
export async function startTestServer({
  clock = systemClock,
  handlers = {},
  requests = {},
}: TestServerOptions = {}): Promise<TestServer> {
  const ssh = createSshServer({
    hostKeys: [hostKey.private],
    softwareVersion: 'OpenSSH_9.9 Test',
    keepaliveMs: 20_000,
    missedKeepalivesMax: 3,
    signInAttemptsMax: 3,
    clock,
  })
  const arrival: PromiseWithResolvers<Awaited<TestServer['arrival']>> = Promise.withResolvers()
  const signedIn: PromiseWithResolvers<ClientConnection> = Promise.withResolvers()
  const errors: Error[] = []
  const sockets: Socket[] = []
  const listener = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    const accepted = noteClient(
      (peer) => arrival.resolve({ peer, socket, accepted: accepted() }),
      () =>
        ssh.accept(socket, {
          signIn: async () => 'accepted',
          onKeyRefused: () => undefined,
          onSignedIn: (connection) => {
            connection.serve({
              openSession: () => idleSession(),
              connect: (_address, { reject }) => reject(),
              listen: () => Promise.reject(new Error('not here')),
              stopListening: () => false,
              onClosed: () => undefined,
              ...requests,
            })
            signedIn.resolve(connection)
          },
          onError: (error) => void errors.push(error),
          onFault: (error) => void errors.push(error instanceof Error ? error : new Error(String(error))),
          ...handlers,
        }),
    )
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  return {
    port: (listener.address() as AddressInfo).port,
    arrival: arrival.promise,
    signedIn: signedIn.promise,
    errors,
    stop: () => {
      listener.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Runs `accept`, and calls `onClient` with the client that ssh2 makes for its socket. */
const noteClient = (
  onClient: (peer: Connection) => void,
  accept: () => AcceptedClient,
): (() => AcceptedClient) => {
  const { injectSocket } = ssh2.Server.prototype
  ssh2.Server.prototype.injectSocket = function (this: ssh2.Server, socket) {
    this.once('connection', onClient)
    injectSocket.call(this, socket)
  }
  try {
    const accepted = accept()
    return () => accepted
  } finally {
    ssh2.Server.prototype.injectSocket = injectSocket
  }
}

export type TestPair = TestServer &
  Awaited<TestServer['arrival']> & { client: Client; connection: ClientConnection }

/** Starts a server and connects a client with it. */
export async function startTestPair(
  options: TestServerOptions & { client?: ConnectConfig } = {},
): Promise<TestPair> {
  const server = await startTestServer(options)
  const client = new ssh2.Client()
  client.on('error', () => undefined)
  client.connect({
    host: '127.0.0.1',
    port: server.port,
    username: 'test',
    privateKey: clientKey.private,
    ...options.client,
  })
  const [arrived, connection] = await Promise.all([server.arrival, server.signedIn, once(client, 'ready')])
  return {
    ...server,
    ...arrived,
    client,
    connection,
    stop: () => {
      client.destroy()
      server.stop()
    },
  }
}

/** Runs a command and returns the client's end of its channel. */
export function exec(client: Client, command = 'anything'): Promise<ssh2.ClientChannel> {
  return new Promise((resolve, reject) => {
    client.exec(command, (error, channel) => (error ? reject(error) : resolve(channel)))
  })
}
