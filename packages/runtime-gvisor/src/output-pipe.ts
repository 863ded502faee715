/**
 * A command's standard output or error: an anonymous pipe of which the first bytes are kept. Node's own are socket
 * pairs, on which opening /dev/stdout fails inside a sandbox.
 */
import { closeSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { openPipe } from './system-calls.ts'

const pipeCapacityBytes = 65_536

/** Keeps the first `limitBytes` of a stream and drops the rest, so that the writer never waits. */
export class OutputPipe {
  /** The writing end, for the command; closed by {@link closeWriter}. */
  readonly writeFd: number
  truncated = false
  readonly #readFd: number
  readonly #socket: Socket
  readonly #chunks: Buffer[] = []
  readonly #onKept: ((chunk: Buffer) => void) | undefined
  #left: number
  #ended = false
  #writerOpen = true

  /** `onKept` is told of each piece within the limit as it arrives. */
  constructor(limitBytes: number, onKept?: (chunk: Buffer) => void) {
    const { readFd, writeFd } = openPipe()
    this.writeFd = writeFd
    this.#readFd = readFd
    this.#left = limitBytes
    this.#onKept = onKept
    this.#socket = new Socket({ fd: readFd, readable: true, writable: false })
    this.#socket.on('data', (chunk: Buffer) => this.#keep(chunk))
    this.#socket.on('error', () => undefined)
    for (const event of ['end', 'close']) {
      this.#socket.once(event, () => {
        this.#ended = true
      })
    }
  }

  /** Closes our copy of the writing end: to be called once the command has its own. */
  closeWriter(): void {
    if (!this.#writerOpen) return
    this.#writerOpen = false
    closeSync(this.writeFd)
  }

  /** What was written until now; nothing that the command itself wrote before its end is missing. */
  finish(): Buffer {
    this.closeWriter()
    // A background process may hold the pipe open for ever, so its end is no sign: what stood in the pipe is.
    const buffer = Buffer.allocUnsafe(pipeCapacityBytes)
    let drained = 0
    while (!this.#ended && drained < pipeCapacityBytes) {
      let length = 0
      try {
        length = readSync(this.#readFd, buffer, 0, buffer.length, null)
      } catch {
        break
      }
      if (length === 0) break
      drained += length
      this.#keep(Buffer.from(buffer.subarray(0, length)))
    }
    this.#socket.destroy()
    return Buffer.concat(this.#chunks)
  }

  #keep(chunk: Buffer): void {
    if (chunk.length > this.#left) this.truncated = true
    const kept = chunk.subarray(0, this.#left)
    this.#left -= kept.length
    if (kept.length === 0) return
    this.#chunks.push(kept)
    this.#onKept?.(kept)
  }
}
