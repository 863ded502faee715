/**
 * One connection to a Dock over the link, as the stream of bytes that a socket is: what comes late is kept for a
 * reader that comes later, and neither side holds more than its windows while the other is slow.
 */
import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2'
import { Duplex } from 'node:stream'
import { LinkLost } from './link-errors.ts'

/** Bytes held for a slow reader besides the window of HTTP/2 itself. */
const heldBytes = 64 * 1024

/** The control plane's end. Ending it closes one direction, destroying it both. */
export class LinkSocket extends Duplex {
  /** What the agent said at the orderly end of its direction; undefined when there was none. */
  trailers: IncomingHttpHeaders | undefined
  /** As a socket's: the idle time that was asked for last, milliseconds. */
  timeout = 0
  readonly #stream: ClientHttp2Stream
  #idle: NodeJS.Timeout | undefined

  constructor(stream: ClientHttp2Stream) {
    super({ highWaterMark: heldBytes })
    this.#stream = stream
    let ended = false
    stream.on('data', (chunk: Buffer) => {
      this.#idle?.refresh()
      if (!this.push(chunk)) stream.pause()
    })
    stream.once('trailers', (headers: IncomingHttpHeaders) => {
      this.trailers = headers
    })
    stream.once('end', () => {
      ended = true
      this.push(null)
    })
    stream.on('error', () => undefined)
    stream.once('close', () => {
      // Cut: a reader must not take it for the end.
      if (!ended) this.destroy(new LinkLost('the connection to the Dock broke'))
      else if (this.readableEnded) this.destroy()
      else this.once('end', () => this.destroy())
    })
  }

  override _read(): void {
    this.#stream.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#idle?.refresh()
    this.#stream.write(chunk, encoding, callback)
  }

  override _writev(chunks: { chunk: Buffer }[], callback: (error?: Error | null) => void): void {
    this.#idle?.refresh()
    this.#stream.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#stream.end(callback)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#idle)
    this.#stream.close(constants.NGHTTP2_CANCEL)
    callback(error)
  }

  /** Emits `timeout` when nothing was sent or came for this long, and again after as long; 0 ends that. */
  setTimeout(milliseconds: number, listener?: () => void): this {
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.timeout = milliseconds
    if (listener && milliseconds > 0) this.once('timeout', listener)
    else if (listener) this.off('timeout', listener)
    if (milliseconds > 0) this.#idle = setInterval(() => this.emit('timeout'), milliseconds).unref()
    return this
  }

  // An HTTP client asks these of its sockets too; the link has its own ways.

  setNoDelay(): this {
    return this
  }
  setKeepAlive(): this {
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
}
