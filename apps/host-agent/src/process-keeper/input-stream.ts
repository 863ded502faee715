/**
 * What is written to a process's standard input. Every byte has an offset, so that a chunk which arrives again is not
 * written again. Accepted bytes stay in a small buffer until the process reads them.
 */
import { closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { KeeperRefusal } from './keeper-refusal.ts'

export class InputStream {
  /** Bytes that were accepted so far: the offset of the next byte. */
  accepted = 0
  readonly #socket: Socket
  #isOpen = true
  #isBroken = false

  readonly #fd: number

  constructor(writeFd: number) {
    this.#fd = writeFd
    this.#socket = new Socket({ fd: writeFd, readable: false, writable: true })
    this.#socket.on('error', () => {
      this.#isBroken = true
    })
    this.#socket.once('close', () => {
      this.#isOpen = false
    })
  }

  /** True while the input is open, and a process may read it. */
  get isRead(): boolean {
    if (!this.#isOpen) return false
    try {
      // Opening a named pipe to write fails if nobody has it open to read, also if its name is gone.
      closeSync(openSync(`/proc/self/fd/${this.#fd}`, constants.O_WRONLY | constants.O_NONBLOCK))
      return true
    } catch {
      return false
    }
  }

  /**
   * Writes the chunks as the bytes from `offset` on, and leaves out those that were accepted before. Waits while the
   * process does not read. Returns the offset of the next byte. Throws `conflict` if bytes are missing before `offset`,
   * or if the input is closed.
   */
  async write(offset: number, chunks: AsyncIterable<Uint8Array>): Promise<number> {
    if (offset > this.accepted)
      throw new KeeperRefusal('conflict', `bytes are missing: the next offset is ${this.accepted}`)
    let at = offset
    for await (const chunk of chunks) {
      // Another request may have written some of these bytes in the meantime, but never fewer than this one.
      const known = this.accepted - at
      at += chunk.length
      if (known >= chunk.length) continue
      await this.#add(chunk.subarray(known))
    }
    if (this.#isBroken) throw this.#closed()
    return this.accepted
  }

  /**
   * Writes each chunk when it arrives, after what others have written by then. Waits while the process does not read.
   * Returns the offset of the next byte. Throws `conflict` if the input is closed.
   */
  async append(chunks: AsyncIterable<Uint8Array>): Promise<number> {
    for await (const chunk of chunks) await this.#add(chunk)
    if (this.#isBroken) throw this.#closed()
    return this.accepted
  }

  /** Closes the input once the process has read all of it. Idempotent. */
  end(): void {
    this.#isOpen = false
    this.#socket.end()
  }

  /** Closes the input at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  async #add(bytes: Uint8Array): Promise<void> {
    if (!this.#isOpen) throw this.#closed()
    this.accepted += bytes.length
    if (this.#socket.write(bytes)) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#socket.off('drain', done)
        this.#socket.off('close', done)
        resolve()
      }
      this.#socket.on('drain', done)
      this.#socket.on('close', done)
    })
  }

  #closed(): KeeperRefusal {
    const reason = this.#isBroken ? 'the process no longer reads its input' : 'the input is closed'
    return new KeeperRefusal('conflict', reason)
  }
}
