/** A kernel event counter (eventfd) read by Node's event loop, so that a waiting guard costs nothing. */
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import koffi from 'koffi'
import { openPipe } from '../system/system-calls.ts'

const libc = koffi.load(null)
const eventfd = libc.func('int eventfd(unsigned int initial, int flags)')
const dup3 = libc.func('int dup3(int from, int to, int flags)')

const closeOnExec = 0o2000000
const nonBlocking = 0o4000

export class EventCounter {
  /** Descriptor of the counter, for the kernel to write to. */
  readonly fd: number
  readonly #socket: Socket

  /** Calls `rung` whenever the counter was increased. Throws if the process has no descriptors left. */
  constructor(rung: () => void) {
    this.fd = eventfd(0, closeOnExec | nonBlocking)
    if (this.fd < 0) throw new Error(`eventfd: errno ${koffi.errno()}`)
    // Node's Socket accepts only pipes and sockets. So create it for a pipe, then replace the descriptor by the
    // eventfd.
    const { readFd, writeFd } = openPipe()
    this.#socket = new Socket({ fd: readFd, readable: true, writable: false })
    const replaced = dup3(this.fd, readFd, closeOnExec)
    closeSync(writeFd)
    this.#socket.on('error', () => undefined)
    this.#socket.on('data', rung)
    this.#socket.unref()
    if (replaced >= 0) return
    this.close()
    throw new Error(`dup3: errno ${koffi.errno()}`)
  }

  close(): void {
    this.#socket.destroy()
    closeSync(this.fd)
  }
}
