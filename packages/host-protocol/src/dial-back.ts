/**
 * A connection to a Dock beside the link: while the control plane asks for it over the link, the agent dials once more,
 * and its bytes go from socket to socket, through no frames. The ticket came over the link, is for one connection, and
 * stands for the host.
 */
import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { dialledAddress } from '@dock/foundation'
import { connectProtocol } from './link-settings.ts'

/** Where the control plane takes what agents dial back; the upgrade's protocol is `dock-stream`. */
export const dialBackPath = '/v1/fleet/dial-back'
export const dialBackProtocol = connectProtocol
export const ticketHeader = 'x-dock-ticket'

const dialTimeoutMs = 3_000

/** The agent's end. Null when the control plane does not take it, or a proxy before it does not. */
export function dialBack(url: string, ticket: string): Promise<Duplex | null> {
  return new Promise((resolve) => {
    const { base, socketPath } = dialledAddress(url)
    const address = new URL(dialBackPath, base)
    const outgoing = (address.protocol === 'https:' ? requestSecurely : request)(address, {
      headers: { connection: 'Upgrade', upgrade: dialBackProtocol, [ticketHeader]: ticket },
      agent: false,
      timeout: dialTimeoutMs,
      ...(socketPath === undefined ? {} : { socketPath }),
    })
    outgoing.once('upgrade', (_, socket: Socket, head: Buffer) => {
      socket.setTimeout(0)
      socket.allowHalfOpen = true
      socket.setNoDelay()
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    outgoing.once('response', () => outgoing.destroy())
    outgoing.once('timeout', () => outgoing.destroy())
    outgoing.on('error', () => undefined)
    outgoing.once('close', () => resolve(null))
    outgoing.end()
  })
}

/** A place for one connection that an agent was asked for. */
export type ExpectedDialBack = {
  ticket: string
  /** What came; null until then. */
  readonly socket: Duplex | null
  /** From now on the ticket is good for nothing. */
  forget(): void
}

export type DialBackDoor = {
  expect(): ExpectedDialBack
  /** Call it for each upgrade of {@link dialBackPath}. Refusals are answered on the socket. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void
}

/** The control plane's end. */
export function createDialBackDoor(): DialBackDoor {
  const expected = new Map<string, (socket: Duplex) => void>()
  return {
    expect: () => {
      const ticket = randomBytes(32).toString('base64url')
      let arrived: Duplex | null = null
      expected.set(ticket, (socket) => {
        arrived = socket
      })
      return {
        ticket,
        get socket() {
          return arrived
        },
        forget: () => void expected.delete(ticket),
      }
    },
    upgrade: (request, socket, head) => {
      socket.on('error', () => undefined)
      const ticket = request.headers[ticketHeader]
      const take = typeof ticket === 'string' ? expected.get(ticket) : undefined
      if (typeof ticket !== 'string' || !take || head.length > 0)
        return void socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
      expected.delete(ticket)
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${dialBackProtocol}\r\n\r\n`,
      )
      take(socket)
    },
  }
}

/** An end that is not orderly on the socket's side is one for the request on the link that it was asked for by. */
const endWith = (socket: Duplex, asked: Duplex): void => {
  socket.on('error', () => undefined)
  socket.once('close', () => {
    if (socket.errored || !socket.readableEnded || !socket.writableFinished)
      asked.destroy(new Error('the connection broke'))
    else asked.end()
  })
  asked.resume()
}

/** Binds the agent's end to that request: it breaks with it, as it does with the link. */
export function bindDialled(socket: Duplex, asked: Duplex, gone: AbortSignal): void {
  gone.addEventListener('abort', () => socket.destroy(), { once: true })
  endWith(socket, asked)
}

/** The same for the control plane's end. */
export function bindArrived(socket: Duplex, asked: Duplex): void {
  asked.once('error', (error) => socket.destroy(error))
  endWith(socket, asked)
}
