/** The two ways to pass a request of HTTP/2 on: over HTTP/2, and over HTTP/1.1 to programs that speak nothing else. */
import { type ClientRequestArgs, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { constants, type Http2Stream, type ServerHttp2Stream } from 'node:http2'
import type { Duplex, Readable } from 'node:stream'
import type { DockSession } from './dock-session.ts'
import { cleanReason, hasClearEnd } from './response-headers.ts'

/** A request of a visitor. `headers` are those that the program sees, `host` among them and no others of HTTP/2. */
export type Asked = {
  stream: ServerHttp2Stream
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The trailers of the request, complete once its body has ended. */
  trailers(): IncomingHttpHeaders
  /** True if the visitor accepts trailers. */
  acceptsTrailers: boolean
}

/** The answer of a program. The trailers are complete once the body has ended. */
export type Answer = {
  status: number
  headers: IncomingHttpHeaders
  body: Readable
  /** True if the headers are all of it, as in errors of gRPC. */
  isEnd: boolean
  trailers(): IncomingHttpHeaders
  /** Call it once the body has ended. False if the program reset it: Node then ends it like any other. */
  isWhole(): boolean
}

export class BrokenAnswer extends Error {
  override readonly name = 'BrokenAnswer'
}

/** Trailers that would change how the response is framed, routed or trusted. */
const neverTrailers =
  /^(:.*|content-length|transfer-encoding|host|connection|keep-alive|proxy-connection|http2-settings|trailer|te|upgrade|set-cookie)$/

const cleanTrailers = (trailers: NodeJS.Dict<string | string[]>): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(trailers).filter(([name]) => !neverTrailers.test(name)))

/** Sends trailers. Node throws if HTTP/2 does not allow them; then the stream is reset. */
export function sendTrailers(stream: Http2Stream, trailers: IncomingHttpHeaders): void {
  try {
    stream.sendTrailers(trailers)
  } catch {
    stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
}

/** Ends the request in the Dock if the visitor leaves. */
const leaveWith = (stream: ServerHttp2Stream, leave: () => void): void => {
  if (stream.destroyed) leave()
  else stream.once('close', leave)
}

/** Rejects with BrokenAnswer if the program does not answer, or not in HTTP/2. */
export function askOverHttp2(session: DockSession, asked: Asked): Promise<Answer> {
  const { stream, method, path, headers, acceptsTrailers } = asked
  const { host, connection: _, ...others } = headers
  const sent = session.request(
    {
      ...others,
      ':method': method,
      ':path': path,
      ':scheme': 'http',
      ':authority': host,
      ...(acceptsTrailers ? { te: 'trailers' } : {}),
    },
    stream.endAfterHeaders,
  )
  leaveWith(stream, () => sent.close(constants.NGHTTP2_CANCEL))
  sent.once('wantTrailers', () => sendTrailers(sent, cleanTrailers(asked.trailers())))
  if (!stream.endAfterHeaders) stream.pipe(sent)
  let trailers: IncomingHttpHeaders = {}
  sent.once('trailers', (received) => {
    trailers = cleanTrailers(received)
  })
  return new Promise((resolve, reject) => {
    sent.once('response', ({ ':status': status = 0, ...received }, flags) => {
      const isEnd = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
      const isWhole = (): boolean => sent.rstCode === constants.NGHTTP2_NO_ERROR
      resolve({ status, headers: received, body: sent, isEnd, trailers: () => trailers, isWhole })
    })
    sent.on('error', (cause) => reject(new BrokenAnswer(cause.message, { cause })))
    sent.once('close', () => reject(new BrokenAnswer('the program closed the request')))
  })
}

/** Asks over a connection of the agent. Rejects with BrokenAnswer, or the reason why there is no connection. */
export function askOverHttp1(options: ClientRequestArgs, asked: Asked): Promise<Answer> {
  const { stream, method, path, headers } = asked
  const framed = { ...headers }
  // Node sends no length and no chunks with a GET, so the program would take the body for the next request.
  if (!stream.endAfterHeaders && framed['content-length'] === undefined)
    framed['transfer-encoding'] = 'chunked'
  const outgoing = request({ ...options, method, path, headers: framed, setHost: false })
  leaveWith(stream, () => outgoing.destroy())
  if (stream.endAfterHeaders) outgoing.end()
  else stream.pipe(outgoing)
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.once('close', () => reject(new BrokenAnswer('the program closed the connection')))
    outgoing.once('upgrade', (_, upgraded: Duplex) => {
      upgraded.destroy()
      reject(new BrokenAnswer('the program changed the protocol'))
    })
    outgoing.once('response', (answer: IncomingMessage) => {
      if (!hasClearEnd(answer)) {
        answer.destroy()
        return reject(new BrokenAnswer('the response has no clear end'))
      }
      cleanReason(answer)
      delete answer.headers['transfer-encoding']
      const trailers = (): IncomingHttpHeaders => cleanTrailers(answer.trailers)
      resolve({
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        body: answer,
        isEnd: false,
        trailers,
        isWhole: () => true,
      })
    })
  })
}
