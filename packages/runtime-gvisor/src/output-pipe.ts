/**
 * A command's standard output or error: an anonymous pipe of which the first bytes are kept. Node's own are socket
 * pairs, on which opening /dev/stdout fails inside a sandbox.
 */
import { closeSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { openPipe } from './system-calls.ts'

const pipeCapacityBytes = 65_536
/** What is dropped is read at 64 MiB/s at most: a flood that nobody reads is not worth a core. */
const droppedChunkMs = 1

/** Where every pipe's bytes are read to: they are copied, or dropped, before anything else can be read. */
const readBuffer = Buffer.allocUnsafeSlow(pipeCapacityBytes)

/** Keeps the first `limitBytes` of a stream and drops the rest, so that the writer goes on. */
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
    this.#socket = new Socket({
      ...{ fd: readFd, readable: true, writable: false },
      onread: {
        buffer: readBuffer,
        callback: (length, buffer) => this.#take(buffer.subarray(0, length)),
      },
    })
    this.#socket.on('error', () => undefined)
    for (const event of ['end', 'close']) {
      this.#socket.once(event, () => {
        this.#ended = true
      })
    }
    this.#socket.resume()
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
    let drained = 0
    while (!this.#ended && drained < pipeCapacityBytes) {
      let length = 0
      try {
        length = readSync(this.#readFd, readBuffer, 0, pipeCapacityBytes, null)
      } catch {
        break
      }
      if (length === 0) break
      drained += length
      this.#keep(readBuffer.subarray(0, length))
    }
    this.#socket.destroy()
    return Buffer.concat(this.#chunks)
  }

  /** Answers whether to read on at once. */
  #take(chunk: Uint8Array): boolean {
    this.#keep(chunk)
    if (!this.truncated) return true
    setTimeout(() => this.#socket.resume(), droppedChunkMs)
    return false
  }

  #keep(chunk: Uint8Array): void {
    if (chunk.length > this.#left) this.truncated = true
    const kept = Buffer.from(chunk.subarray(0, this.#left))
    this.#left -= kept.length
    if (kept.length === 0) return
    this.#chunks.push(kept)
    this.#onKept?.(kept)
  }
}
