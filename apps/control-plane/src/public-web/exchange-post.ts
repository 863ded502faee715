/**
 * Sends one POST over a socket that is already connected, and reads the response as far as Dock needs it. No agent is
 * involved, so there is no pool, no proxy and no redirect.
 */
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'

/** `text` is the start of the body. */
export type Answer = { status: number; retryAfter: string | undefined; text: string }

export class MalformedAnswer extends Error {}

export type Outgoing = {
  url: URL
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
}

const headerBytesMax = 8 * 1024
const bodyBytesRead = 1024
/** Limit for everything before the body. The parser counts neither informational responses nor whitespace in headers. */
const headBytesMax = 16 * 1024

const closedEarly = 'The receiver closed the connection before its answer was complete.'
const notHttp = 'The receiver sent an answer that is not valid HTTP/1.1, or one with large headers.'

const explain = (error: NodeJS.ErrnoException): MalformedAnswer =>
  error instanceof MalformedAnswer
    ? error
    : new MalformedAnswer(error.code?.startsWith('HPE_') ? notHttp : closedEarly)

/**
 * Calls back once the body has ended or its first KiB has arrived. Bytes that are not UTF-8 become U+FFFD, and a character
 * that the limit cuts is left out.
 */
const readBodyStart = (response: IncomingMessage, done: (text: string) => void): void => {
  const pieces: Buffer[] = []
  let bytes = 0
  const decode = (): string =>
    new TextDecoder().decode(Buffer.concat(pieces).subarray(0, bodyBytesRead), {
      stream: bytes >= bodyBytesRead,
    })
  response.on('data', (piece: Buffer) => {
    if (bytes >= bodyBytesRead) return
    pieces.push(piece)
    bytes += piece.length
    if (bytes >= bodyBytesRead) done(decode())
  })
  response.once('end', () => done(decode()))
}

const startRequest = (socket: Socket, { url, headers, body }: Outgoing): ClientRequest =>
  request({
    createConnection: () => socket,
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    setHost: false,
    maxHeaderSize: headerBytesMax,
    insecureHTTPParser: false,
    headers: {
      ...headers,
      host: url.host,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    },
  })

/**
 * Resolves with the final response once its body has ended or its first KiB has arrived. Rejects with MalformedAnswer if
 * there is none. Leaves the socket for the caller to destroy.
 */
export function exchangePost(socket: Socket, outgoing: Outgoing): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = startRequest(socket, outgoing)
    const fail = (error: Error): void => reject(explain(error))
    let isAnswered = false
    sent.once('socket', () => {
      let bytes = 0
      // The parser listens first, so the response is known right after the chunk that completes the headers.
      socket.on('data', (piece: Buffer) => {
        bytes += piece.length
        if (!isAnswered && bytes > headBytesMax) sent.destroy(new MalformedAnswer(notHttp))
      })
    })
    // Nobody asked for another protocol, but 101 is a response that is final.
    sent.once('upgrade', ({ statusCode }, upgraded) => {
      upgraded.destroy()
      resolve({ status: statusCode ?? 101, retryAfter: undefined, text: '' })
    })
    // Request and response may each report several errors. An error without a listener would end the process.
    sent.on('error', fail)
    sent.once('close', () => fail(new MalformedAnswer(closedEarly)))
    sent.once('response', (response) => {
      isAnswered = true
      const status = response.statusCode ?? 0
      response.on('error', fail)
      if (status === 101) return resolve({ status, retryAfter: undefined, text: '' })
      if (status < 200 || status > 599) return fail(new MalformedAnswer(notHttp))
      const retryAfter = response.headers['retry-after']
      readBodyStart(response, (text) => resolve({ status, retryAfter, text }))
    })
    sent.end(outgoing.body)
  })
}
