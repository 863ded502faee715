/** The output of a terminal: a pipe that is read only as fast as the listener consumes it. */
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import { openPipe } from './system-calls.ts'

/** Ends the first line, which is the header. */
const lineFeed = 0x0a
/** A program of the Dock prints the header, and a tenant may replace the program. */
const headerBytesMax = 1024

export class TerminalOutput {
  /** The write end for the command. {@link closeWriter} closes it. */
  readonly writeFd: number
  /** The first line, which the listener does not get; undefined if the output ended without one, or if it is too long. */
  readonly header: Promise<string | undefined>
  /** Resolves when all output was delivered and the writer has closed its end. */
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
        if ((end < 0 ? line.length : end) > headerBytesMax) return void this.#socket.destroy()
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
