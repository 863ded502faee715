/**
 * A connection to a Dock over the link, with the interface of a socket. Bytes are kept for a late reader, and
 * backpressure bounds the bytes that either side buffers.
 */
import { type ClientHttp2Stream, constants } from 'node:http2'
import { Duplex } from 'node:stream'
import { HostUnreachable } from './link-errors.ts'

/** Bytes buffered for a slow reader, in addition to the HTTP/2 window. */
const heldBytes = 64 * 1024

/** The control plane's end. `end` closes one direction, `destroy` closes both. */
export class LinkSocket extends Duplex {
  /** The idle timeout in milliseconds that was set last, as in `net.Socket`. */
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
    stream.once('end', () => {
      ended = true
      this.push(null)
    })
    stream.on('error', () => undefined)
    stream.once('close', () => {
      // The stream was cut: the reader must not mistake this for the end.
      if (!ended) this.destroy(new HostUnreachable('the connection to the Dock broke'))
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

  /** Emits `timeout` after each idle period of this length, in which no bytes were sent or received. 0 turns it off. */
  setTimeout(milliseconds: number, listener?: () => void): this {
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.timeout = milliseconds
    if (listener && milliseconds > 0) this.once('timeout', listener)
    else if (listener) this.off('timeout', listener)
    if (milliseconds > 0) this.#idle = setInterval(() => this.emit('timeout'), milliseconds).unref()
    return this
  }

  // HTTP clients also call these methods of a socket. The link has its own keep-alive, so they do nothing.

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
