/**
 * Anonymous pipes for a command's streams. Node's own are socket pairs, on which opening /dev/stdout fails inside
 * a sandbox.
 */
import { closeSync, readSync } from 'node:fs'
import { Socket } from 'node:net'
import koffi from 'koffi'

const libc = koffi.load(null)
const pipe2 = libc.func('int pipe2(_Out_ int *fds, int flags)')
const closeOnExec = 0o2000000
const pipeCapacityBytes = 65_536

/** A pipe's two ends as descriptors, closed on exec. Throws when the process has no descriptors left. */
export const openPipe = (): { readFd: number; writeFd: number } => {
  const fds = [0, 0]
  if (pipe2(fds, closeOnExec) !== 0) throw new Error('pipe2: no file descriptors left')
  return { readFd: fds[0]!, writeFd: fds[1]! }
}

/** Keeps the first `limitBytes` of a stream and drops the rest, so that the writer never waits. */
export class OutputPipe {
  readonly writeFd: number
  truncated = false
  readonly #readFd: number
  readonly #socket: Socket
  readonly #chunks: Buffer[] = []
  #left: number
  #ended = false
  #writerOpen = true

  constructor(limitBytes: number) {
    const { readFd, writeFd } = openPipe()
    this.writeFd = writeFd
    this.#readFd = readFd
    this.#left = limitBytes
    this.#socket = new Socket({ fd: readFd, readable: true, writable: false })
    this.#socket.on('data', (chunk: Buffer) => this.#keep(chunk))
    this.#socket.on('error', () => undefined)
    this.#socket.once('close', () => {
      this.#ended = true
    })
    this.#socket.once('end', () => {
      this.#ended = true
    })
  }

  /** Closes our copy of the writing end: to be called once the child has its own. */
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
    if (kept.length > 0) this.#chunks.push(kept)
    this.#left -= kept.length
  }
}
