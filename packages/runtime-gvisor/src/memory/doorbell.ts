/** An event counter of the kernel (eventfd) that Node's event loop reads, so that a waiting guard costs nothing. */
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import koffi from 'koffi'
import { openPipe } from '../system-calls.ts'

const libc = koffi.load(null)
const eventfd = libc.func('int eventfd(unsigned int initial, int flags)')
const dup3 = libc.func('int dup3(int from, int to, int flags)')

const closeOnExec = 0o2000000
const nonBlocking = 0o4000

export class Doorbell {
  /** Descriptor of the counter, to be handed to the kernel. */
  readonly fd: number
  readonly #socket: Socket

  /** Calls `rung` each time the counter was added to. Throws when the process has no descriptors left. */
  constructor(rung: () => void) {
    this.fd = eventfd(0, closeOnExec | nonBlocking)
    if (this.fd < 0) throw new Error(`eventfd: errno ${koffi.errno()}`)
    // Node reads pipes and sockets only. A reader made for a pipe reads whatever its descriptor names when it is used.
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
