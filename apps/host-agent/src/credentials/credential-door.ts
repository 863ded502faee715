/**
 * Where git in one Dock asks for credentials: a listener on the gateway address of this Dock alone, which the packet rules
 * open to its interface and no other. So whoever asks is that Dock. Nothing that is said here is written anywhere.
 */
import { createServer, type Server, type Socket } from 'node:net'
import type { Logger } from '@dock/foundation'
import type { CredentialAnswer, GitQuestion } from '@dock/host-protocol'
import { credentialPort } from '../network/filter-rules.ts'
import { parseGitQuestion, questionBytesMax } from './git-question.ts'

type Credential = CredentialAnswer['credential']

const connectionsMax = 8
const questionTimeoutMs = 5_000
const answerTimeoutMs = 35_000
/** Questions of one Dock: a burst, and what comes back each second. */
const burst = 60
const perSecond = 1

/** Whether one more may be asked now. */
const createAllowance = () => {
  let left = burst
  let at = performance.now()
  return (): boolean => {
    const now = performance.now()
    left = Math.min(burst, left + ((now - at) / 1000) * perSecond)
    at = now
    if (left < 1) return false
    left -= 1
    return true
  }
}

/** The bytes up to the empty line that ends a question; null when none comes. */
const readQuestion = (socket: Socket): Promise<Buffer | null> =>
  new Promise((resolve) => {
    let held = Buffer.alloc(0)
    const end = (bytes: Buffer | null): void => {
      socket.off('data', take).off('close', close).off('end', close)
      resolve(bytes)
    }
    const close = (): void => end(null)
    const take = (chunk: Buffer): void => {
      held = Buffer.concat([held, chunk])
      if (held.length > questionBytesMax) end(null)
      else if (held.subarray(-2).equals(Buffer.from('\n\n'))) end(held)
    }
    socket.on('data', take).once('close', close).once('end', close)
  })

const written = (credential: Credential): string =>
  credential ? `username=${credential.username}\npassword=${credential.password}\n` : ''

export type CredentialDoor = { close(): void }

export type DoorOptions = {
  /** The Dock's gateway address. */
  address: string
  logger: Logger
  ask(question: GitQuestion): Promise<Credential>
  /** The port of all Docks unless said. */
  port?: number
}

/** Rejects when the address cannot be bound. */
export const openCredentialDoor = async (
  options: DoorOptions,
): Promise<CredentialDoor & { port: number }> => {
  const { address, logger, ask, port = credentialPort } = options
  const mayAsk = createAllowance()
  const sockets = new Set<Socket>()

  const serve = async (socket: Socket): Promise<void> => {
    socket.setTimeout(questionTimeoutMs, () => socket.destroy())
    const bytes = await readQuestion(socket)
    const question = bytes && parseGitQuestion(bytes)
    if (!question || !mayAsk()) {
      socket.destroy()
      return
    }
    socket.setTimeout(answerTimeoutMs)
    socket.resume()
    socket.end(written(await ask(question)))
  }

  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy())
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    serve(socket).catch((error: unknown) => {
      logger.warn({ err: error }, 'a question for a credential was not answered')
      socket.destroy()
    })
  })
  server.maxConnections = connectionsMax
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: address, port, exclusive: true }, resolve)
  })
  server.on('error', (error: Error) => logger.warn({ err: error }, 'credential door'))
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
