/** The standard input of a command: an anonymous pipe that the host writes to. */
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { openPipe } from '../system/system-calls.ts'

export class InputPipe {
  /** The read end for the command. {@link closeReader} closes it. */
  readonly readFd: number
  readonly #socket: Socket
  #readerOpen = true

  constructor() {
    const { readFd, writeFd } = openPipe()
    this.readFd = readFd
    this.#socket = new Socket({ fd: writeFd, readable: false, writable: true })
    // EPIPE: the command closed its end or exited.
    this.#socket.on('error', () => undefined)
  }

  /** `taken` is called when the data is in the pipe, or when no reader is left. */
  write(data: string | Buffer, taken?: () => void): void {
    if (this.#socket.writable) this.#socket.write(data, () => taken?.())
    else taken?.()
  }

  /** Closes the pipe after the written data, so that the command reads an end of file. */
  end(): void {
    this.#socket.end()
  }

  /** Closes our copy of the read end. Call it once the command has its own copy. */
  closeReader(): void {
    if (!this.#readerOpen) return
    this.#readerOpen = false
    closeSync(this.readFd)
  }

  /** Closes both ends and drops unread data. */
  destroy(): void {
    this.closeReader()
    this.#socket.destroy()
  }
}
