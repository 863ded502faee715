/** A command's standard input: an anonymous pipe that the host writes to. */
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { openPipe } from './system-calls.ts'

export class InputPipe {
  /** The reading end, for the command; closed by {@link closeReader}. */
  readonly readFd: number
  readonly #socket: Socket
  #readerOpen = true

  constructor() {
    const { readFd, writeFd } = openPipe()
    this.readFd = readFd
    this.#socket = new Socket({ fd: writeFd, readable: false, writable: true })
    // A command that ends, or reads nothing, closes its end.
    this.#socket.on('error', () => undefined)
  }

  /** `taken` is called when the pipe has the data, or nobody will ever read it. */
  write(data: string | Buffer, taken?: () => void): void {
    if (this.#socket.writable) this.#socket.write(data, () => taken?.())
    else taken?.()
  }

  /** Lets the command read to the end of what was written. */
  end(): void {
    this.#socket.end()
  }

  /** Closes our copy of the reading end: to be called once the command has its own. */
  closeReader(): void {
    if (!this.#readerOpen) return
    this.#readerOpen = false
    closeSync(this.readFd)
  }

  /** Drops what has not been read. */
  destroy(): void {
    this.closeReader()
    this.#socket.destroy()
  }
}
