/** A receiver of webhooks that a test scripts down to the byte: it reads whole requests and writes any bytes. */
import { readFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'
import type { Certificate } from '../make-certificate.ts'

export type Received = {
  /** Request line, headers and body as they came. */
  text: string
  /** Server name of the TLS handshake, false if none was sent. */
  serverName: string | false | null | undefined
  protocol: string | false | null | undefined
}

export type Receiver = {
  port: number
  /** Called with each whole request. */
  answer: (socket: Socket) => void
  received: Received[]
  /** Connections accepted since the start. */
  connections: number
  /** Resolves once all connections are closed. */
  untilQuiet(): Promise<void>
  close(): Promise<void>
}

const isWhole = (text: string): boolean => {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  return Buffer.byteLength(text) >= end + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
}

/** Returns a response without a body. */
export function answerWith(statusLine: string, ...headers: string[]): (socket: Socket) => void {
  return (socket) =>
    socket.end(`HTTP/1.1 ${statusLine}\r\n${[...headers, 'content-length: 0'].join('\r\n')}\r\n\r\n`)
}

/** Writes one character every 20 ms for as long as the other end reads. */
export function drip(socket: Socket, text: string): void {
  let at = 0
  const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ''), 20)
  socket.once('close', () => clearInterval(timer))
}

/** Starts a receiver on a free port, with TLS if it has a certificate. It responds with 204 until a test sets another response. */
export async function startReceiver(
  certificate?: Certificate,
  address = '127.0.0.1',
  port = 0,
): Promise<Receiver> {
  const open = new Set<Socket>()
  const quiet: (() => void)[] = []
  const receive = (socket: Socket): void => {
    let text = ''
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1')
      if (!isWhole(text)) return
      const { servername: serverName, alpnProtocol: protocol } = socket as TLSSocket
      receiver.received.push({ text, serverName, protocol })
      text = ''
      receiver.answer(socket)
    })
    socket.on('error', () => undefined)
  }
  const server: Server = certificate
    ? createTlsServer(
        {
          key: await readFile(certificate.key),
          cert: await readFile(certificate.certificate),
          ALPNProtocols: ['h2', 'http/1.1'],
        },
        receive,
      )
    : createServer(receive)
  server.on('connection', (socket: Socket) => {
    receiver.connections += 1
    open.add(socket)
    socket.on('error', () => undefined)
    socket.once('close', () => {
      open.delete(socket)
      if (open.size === 0) for (const resolve of quiet.splice(0)) resolve()
    })
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(port, address, resolve))
  const receiver: Receiver = {
    port: (server.address() as AddressInfo).port,
    answer: answerWith('204 No Content'),
    received: [],
    connections: 0,
    untilQuiet: async () => {
      if (open.size > 0) await new Promise<void>((resolve) => quiet.push(resolve))
    },
    close: async () => {
      for (const socket of open) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
  return receiver
}
