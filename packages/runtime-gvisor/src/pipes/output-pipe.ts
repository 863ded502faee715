/**
 * The standard output or error of a command: an anonymous pipe. Node's own stdio streams are socket pairs, on which
 * opening /dev/stdout fails inside a sandbox.
 */
import { closeSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { openPipe } from '../system/system-calls.ts'
import type { LeftPipe } from './left-outputs.ts'

const pipeCapacityBytes = 65_536
/** Limits reading of dropped output to 64 MiB/s, so that a flood does not occupy a core. */
const droppedChunkMs = 1

/** Shared by all pipes: bytes are copied or dropped before the next read. */
const readBuffer = Buffer.allocUnsafeSlow(pipeCapacityBytes)

/** Keeps the first `limitBytes` of a stream, and reads and drops the rest so that the writer does not block. */
export class OutputPipe implements LeftPipe {
  /** The write end for the command. {@link closeWriter} closes it. */
  readonly writeFd: number
  truncated = false
  readonly #readFd: number
  readonly #socket: Socket
  readonly #chunks: Buffer[] = []
  readonly #onKept: ((chunk: Buffer) => void) | undefined
  #left: number
  #ended = false
  #writerOpen = true
  #isFinished = false

  /** `onKept` is called with each piece within the limit as it arrives. */
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

  /** Closes our copy of the write end. Call it once the command has its own copy. */
  closeWriter(): void {
    if (!this.#writerOpen) return
    this.#writerOpen = false
    closeSync(this.writeFd)
  }

  /** The read end, if a background process of the command still holds the pipe. */
  get heldFd(): number | null {
    return this.#ended ? null : this.#readFd
  }

  /**
   * Returns the kept output, including everything that the command wrote before it ended. What background processes write
   * afterwards is read and dropped until {@link close}.
   */
  finish(): Buffer {
    this.closeWriter()
    // Do not wait for the end of the pipe, which a background process may keep open: drain its buffer once.
    let drained = 0
    while (!this.#ended && drained < pipeCapacityBytes) {
      let length = 0
      try {
        length = readSync(this.#readFd, readBuffer, 0, pipeCapacityBytes, null)
      } catch {
        break
      }
      if (length === 0) {
        this.#ended = true
        break
      }
      drained += length
      this.#keep(readBuffer.subarray(0, length))
    }
    this.#isFinished = true
    return Buffer.concat(this.#chunks.splice(0))
  }

  /** Closes the pipe. Idempotent. */
  close(): void {
    this.closeWriter()
    this.#ended = true
    this.#socket.destroy()
  }

  /** Returns true to continue reading at once. */
  #take(chunk: Uint8Array): boolean {
    if (!this.#isFinished) this.#keep(chunk)
    if (!this.truncated && !this.#isFinished) return true
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
