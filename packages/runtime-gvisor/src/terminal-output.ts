/** What a terminal shows: bytes of a pipe, read only as fast as a listener takes them. */
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { openPipe } from './system-calls.ts'

/** The byte after which the first line is over; what stands before it is the terminal's own header. */
const lineFeed = 0x0a

export class TerminalOutput {
  /** The writing end, for the command; closed by {@link closeWriter}. */
  readonly writeFd: number
  /** The first line, which is not shown; undefined when the output ended without one. */
  readonly header: Promise<string | undefined>
  /** Resolves when all has been shown and the writer is gone. */
  readonly closed: Promise<void>
  readonly #socket: Socket
  readonly #waiting: Buffer[] = []
  #listener: ((chunk: Buffer) => void) | undefined
  #paused = false
  #writerOpen = true

  constructor() {
    const { readFd, writeFd } = openPipe()
    this.writeFd = writeFd
    this.#socket = new Socket({ fd: readFd, readable: true, writable: false })
    this.#socket.on('error', () => undefined)
    this.closed = new Promise((resolve) => this.#socket.once('close', () => resolve()))
    this.header = new Promise((resolve) => {
      let line = Buffer.alloc(0)
      const read = (chunk: Buffer): void => {
        line = Buffer.concat([line, chunk])
        const end = line.indexOf(lineFeed)
        if (end < 0) return
        this.#socket.off('data', read)
        if (end + 1 < line.length) this.#waiting.push(line.subarray(end + 1))
        this.#socket.on('data', (more: Buffer) => this.#show(more))
        this.#flow()
        resolve(line.subarray(0, end).toString('utf8').trim())
      }
      this.#socket.on('data', read)
      this.#socket.once('close', () => resolve(undefined))
    })
  }

  closeWriter(): void {
    if (!this.#writerOpen) return
    this.#writerOpen = false
    closeSync(this.writeFd)
  }

  listen(listener: (chunk: Buffer) => void): void {
    this.#listener = listener
    this.#flow()
  }

  pause(): void {
    this.#paused = true
    this.#flow()
  }

  resume(): void {
    this.#paused = false
    this.#flow()
  }

  destroy(): void {
    this.closeWriter()
    this.#socket.destroy()
  }

  #show(chunk: Buffer): void {
    this.#waiting.push(chunk)
    this.#flow()
  }

  #flow(): void {
    while (this.#listener && !this.#paused && this.#waiting.length > 0) this.#listener(this.#waiting.shift()!)
    if (this.#waiting.length > 0 || this.#paused) this.#socket.pause()
    else this.#socket.resume()
  }
}
