/**
 * Connects to addresses that have been checked, and to nothing else: no name is resolved here. Every socket is bound to
 * the caller's signal and is destroyed when it aborts.
 */
import { connect, isIP, type LookupFunction, type Socket } from 'node:net'
import { connect as connectSecurely, type TLSSocket } from 'node:tls'
import { isSameAddress } from '@dock/foundation'

export class ConnectFailed extends Error {}

/** The connection leads to an address that was not checked. */
export class WrongPeer extends Error {}

export class TlsFailed extends Error {}

const attemptsMax = 4

const refuseLookup: LookupFunction = (name, _options, callback) =>
  callback(new Error(`${name} would be resolved again`), '')

/** Destroys the socket when the signal aborts. Errors after that, or after the answer, concern nobody. */
const bindToSignal = (socket: Socket, signal: AbortSignal): void => {
  socket.on('error', () => undefined)
  if (signal.aborted) socket.destroy()
  else signal.addEventListener('abort', () => socket.destroy(), { once: true })
}

/** Connects to one address. Rejects with WrongPeer if the other end turns out to have a different one. */
export function connectToAddress(
  address: string,
  port: number,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, lookup: refuseLookup, noDelay: true })
    bindToSignal(socket, signal)
    const timer = setTimeout(() => socket.destroy(new ConnectFailed('no answer in time')), timeoutMs)
    socket.once('error', reject)
    socket.once('close', () => {
      clearTimeout(timer)
      reject(new ConnectFailed('closed'))
    })
    socket.once('connect', () => {
      clearTimeout(timer)
      const peer = socket.remoteAddress
      if (peer !== undefined && isSameAddress(peer, address)) return resolve(socket)
      socket.destroy()
      reject(new WrongPeer())
    })
  })
}

/** Starts with IPv4, because machines whose IPv6 leads nowhere are common, then alternates. */
const inOrderOfTrying = (addresses: readonly string[]): readonly string[] => {
  const ipv4 = addresses.filter((address) => isIP(address) === 4)
  const ipv6 = addresses.filter((address) => isIP(address) === 6)
  const pairs = Array.from({ length: Math.max(ipv4.length, ipv6.length) }, (_, at) => [ipv4[at], ipv6[at]])
  return pairs.flat().filter((address) => address !== undefined)
}

/**
 * Connects to the first address that accepts, of at most four. Each is given its share of `deadlineMs`. Nothing has
 * been sent to an address that did not accept, so trying the next one repeats nothing.
 */
export async function connectToFirst(
  addresses: readonly string[],
  port: number,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Socket> {
  const tried = inOrderOfTrying(addresses).slice(0, attemptsMax)
  for (const address of tried) {
    try {
      return await connectToAddress(address, port, deadlineMs / tried.length, signal)
    } catch (error) {
      if (error instanceof WrongPeer || signal.aborted) throw error
    }
  }
  throw new ConnectFailed()
}

/** Starts TLS for the name or address `host`, with its certificate checked whatever the environment says. */
export function secureConnection(socket: Socket, host: string, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secured = connectSecurely({
      socket,
      // Host is what the certificate must be for. An address is no server name (RFC 6066).
      host,
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    })
    bindToSignal(secured, signal)
    secured.once('secureConnect', () => resolve(secured))
    secured.once('error', (cause) => reject(new TlsFailed('', { cause })))
    secured.once('close', () => reject(new TlsFailed()))
  })
}
