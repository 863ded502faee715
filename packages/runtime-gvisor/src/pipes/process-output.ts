/** An output of an attached process: an anonymous pipe that is read only as fast as the reader consumes it. */
import { closeSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { openPipe, setPipeCapacity } from '../system/system-calls.ts'
import type { LeftPipe } from './left-outputs.ts'

/**
 * Capacity of each pipe of an attached process, instead of Linux's 64 KiB: the program and its reader take turns less
 * often. The kernel allocates what is used.
 */
export const processPipeBytes = 256 * 1024
const readBytes = 64 * 1024
/**
 * A program that writes in small pieces is read as fast as it writes, and each piece costs a turn of every process on
 * its way. So if pieces below this size follow each other, the pipe is left to fill for a moment. Answers do not wait:
 * a protocol such as sftp sends its next request only after the answer to the last one.
 */
const smallBytes = 32 * 1024
const fillMs = 1
/** Bytes held for the reader, in addition to the pipe's own buffer. */
const heldBytes = 64 * 1024

/** Shared by all pipes: bytes are copied before the next read. */
const readBuffer = Buffer.allocUnsafeSlow(readBytes)

export class ProcessOutput extends Readable implements LeftPipe {
  /** The write end for the program. {@link closeWriter} closes it. */
  readonly writeFd: number
  readonly #readFd: number
  readonly #socket: Socket
  #writerOpen = true
  #isOver = false
  /** True once the stream has ended while processes hold the pipe: what they write is dropped until {@link close}. */
  #isLeft = false
  readonly #input: { bytesWritten: number }
  #lastReadAt = 0
  #inputAtLastRead = 0
  #filling: NodeJS.Timeout | undefined
  #isWanted = false

  /** `input`: the same program's input. A piece that follows new input is an answer. */
  constructor(input: { bytesWritten: number } = { bytesWritten: 0 }) {
    super({ highWaterMark: heldBytes })
    this.#input = input
    const { readFd, writeFd } = openPipe()
    setPipeCapacity(writeFd, processPipeBytes)
    this.writeFd = writeFd
    this.#readFd = readFd
    this.#socket = new Socket({
      ...{ fd: readFd, readable: true, writable: false },
      onread: {
        buffer: readBuffer,
        callback: (length, buffer) => this.#take(Buffer.from(buffer.subarray(0, length))),
      },
    })
    this.#socket.pause()
    this.#socket.on('error', () => undefined)
    this.#socket.once('end', () => this.#finish())
  }

  /** Closes our copy of the write end. Call it once the program has its own copy. */
  closeWriter(): void {
    if (!this.#writerOpen) return
    this.#writerOpen = false
    closeSync(this.writeFd)
  }

  /** The read end, if a process that the program left behind still holds the pipe. */
  get heldFd(): number | null {
    return this.#isLeft && !this.#socket.destroyed ? this.#readFd : null
  }

  /** Closes the pipe of a stream that has ended. Idempotent. */
  close(): void {
    if (this.#isOver) this.#socket.destroy()
  }

  /**
   * Ends the stream after what is in the pipe now. Call it once the program has ended. A process that it left behind may
   * hold the pipe, so the caller must {@link close} it.
   */
  endAfterContent(): void {
    if (this.#isOver || this.destroyed) return
    this.closeWriter()
    this.#socket.pause()
    for (let drained = 0; drained < processPipeBytes; ) {
      const length = this.#readNow()
      if (length === 0) break
      drained += length
      this.push(Buffer.from(readBuffer.subarray(0, length)))
    }
    this.#isOver = true
    this.#isLeft = true
    clearTimeout(this.#filling)
    this.push(null)
    this.#socket.resume()
  }

  override _read(): void {
    this.#isWanted = true
    this.#resume()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#isOver = true
    clearTimeout(this.#filling)
    this.closeWriter()
    if (!this.#isLeft) this.#socket.destroy()
    callback(error)
  }

  #resume(): void {
    if (this.#isWanted && !this.#filling && !this.#isOver) this.#socket.resume()
  }

  /** Returns false if the pipe must not be read now. */
  #take(bytes: Buffer): boolean {
    if (this.#isLeft) {
      setTimeout(() => this.#socket.resume(), fillMs)
      return false
    }
    const now = performance.now()
    const isAnswer = this.#input.bytesWritten !== this.#inputAtLastRead
    const isSmall = bytes.length < smallBytes && now - this.#lastReadAt < 2 * fillMs && !isAnswer
    this.#lastReadAt = now
    this.#inputAtLastRead = this.#input.bytesWritten
    this.#isWanted = false
    if (this.push(bytes)) this.#isWanted = true
    if (!isSmall) return this.#isWanted
    this.#filling = setTimeout(() => {
      this.#filling = undefined
      this.#resume()
    }, fillMs)
    return false
  }

  /** Returns the number of bytes in {@link readBuffer}, or 0 if the pipe is empty or at its end. */
  #readNow(): number {
    try {
      return readSync(this.#readFd, readBuffer, 0, readBytes, null)
    } catch {
      return 0
    }
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.push(null)
    this.#socket.destroy()
  }
}
