/**
 * A connection to a Dock that bypasses the link. The control plane requests it over the link; the agent then dials the
 * control plane once more, and the bytes go from socket to socket without HTTP/2 framing. The ticket authenticates the
 * host: it was sent over the link and is valid for one connection.
 */
import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request } from 'node:http'
import { request as requestSecurely } from 'node:https'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { dialledAddress, refuseSocket } from '@dock/foundation'
import { HostUnreachable } from './link-errors.ts'
import { connectProtocol } from './link-settings.ts'

/** The path at which the control plane accepts dial-backs. The upgrade's protocol is `dock-stream`. */
export const dialBackPath = '/v1/fleet/dial-back'
export const dialBackProtocol = connectProtocol
export const ticketHeader = 'x-dock-ticket'

const dialTimeoutMs = 3_000
const unauthorized = 'HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

/** Dials back from the agent. Resolves to null if the control plane, or a proxy in front of it, refuses the upgrade. */
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
      // A user of the socket sees it close. Before that, there may be no other listener.
      socket.on('error', () => undefined)
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

/** A connection that the control plane requested from an agent. */
export type ExpectedDialBack = {
  ticket: string
  /** The agent's connection; null until it arrives. */
  readonly socket: Duplex | null
  /** Invalidates the ticket. */
  forget(): void
}

export type DialBackListener = {
  expect(): ExpectedDialBack
  /** Call it for each upgrade of {@link dialBackPath}. Returns false if it refused the upgrade, by a response. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean
}

/** Creates the control plane's side, which accepts dial-backs. */
export function createDialBackListener(): DialBackListener {
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
      if (typeof ticket !== 'string' || !take || head.length > 0) {
        refuseSocket(socket, unauthorized)
        return false
      }
      expected.delete(ticket)
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${dialBackProtocol}\r\n\r\n`,
      )
      take(socket)
      return true
    },
  }
}

/** Ends the request on the link when the dial-back socket closes: with an error unless the socket ended orderly. */
const endRequestWith = (socket: Duplex, asked: Duplex): void => {
  socket.on('error', () => undefined)
  socket.once('close', () => {
    if (socket.errored || !socket.readableEnded || !socket.writableFinished)
      asked.destroy(new HostUnreachable('the dial-back connection broke'))
    else asked.end()
  })
  asked.resume()
}

/** Ties the agent's end to the request on the link: when either breaks, the other ends. */
export function bindDialled(socket: Duplex, asked: Duplex): void {
  asked.once('close', () => socket.destroy())
  endRequestWith(socket, asked)
}

/** Ties the control plane's end to the request on the link: when either breaks, the other ends. */
export function bindArrived(socket: Duplex, asked: Duplex): void {
  asked.once('error', (error) => socket.destroy(error))
  endRequestWith(socket, asked)
}
