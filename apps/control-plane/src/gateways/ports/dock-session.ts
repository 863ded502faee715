/** A connection of HTTP/2 to a program in a Dock. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { Duplex } from 'node:stream'
import { limits } from '@dock/contract'

/** Time for a program to send its settings, which a server of HTTP/2 does at once. */
const helloMs = 3_000
/** Short, because a Dock with an open connection counts as used and is not frozen. */
const idleMs = 2_000
const memoryMiB = 4

export class DockSession {
  readonly #session: ClientHttp2Session
  #requests = 0

  /**
   * Speaks HTTP/2 over a connection to a program. Resolves with null if the program does not: it then responds to
   * the first bytes with an error of HTTP/1, closes the connection, or waits.
   */
  static greet(stream: Duplex): Promise<DockSession | null> {
    return new Promise((resolve) => {
      const session = connect('http://localhost', {
        createConnection: () => stream,
        settings: { enablePush: false, maxHeaderListSize: limits.http.headerBytesMax },
        maxSessionMemory: memoryMiB,
      })
      // The program has closed its side. A stream to a Dock stays half open otherwise, and HTTP/2 takes no notice of it.
      stream.once('end', () => stream.destroy())
      const late = setTimeout(() => session.destroy(), helloMs)
      session.once('remoteSettings', () => {
        clearTimeout(late)
        resolve(new DockSession(session))
      })
      session.on('error', () => session.destroy())
      session.once('close', () => {
        clearTimeout(late)
        stream.destroy()
        resolve(null)
      })
    })
  }

  private constructor(session: ClientHttp2Session) {
    this.#session = session
    session.setTimeout(idleMs, () => {
      if (this.#requests === 0) session.close()
    })
  }

  /** False once the program or the gateway has begun to close the connection. */
  get isUsable(): boolean {
    return !this.#session.closed && !this.#session.destroyed
  }

  request(headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream {
    const stream = this.#session.request(headers, { endStream, waitForTrailers: !endStream })
    this.#requests += 1
    return stream.once('close', () => {
      this.#requests -= 1
    })
  }

  onClose(listener: () => void): void {
    this.#session.once('close', listener)
  }

  destroy(): void {
    this.#session.destroy()
  }
}
