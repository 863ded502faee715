/**
 * Outputs that nobody reads any more, of programs that go on in the background. What they write is read and dropped, so
 * that they neither block nor get SIGPIPE. A pipe ends with its last writer, at the latest with its Dock.
 */
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { Socket } from 'node:net'

/** Pipes of one Dock. Each costs a descriptor of the host. */
export const leftPipesMax = 128
/** All pipes of a Dock together are read once in this time, so a flood is read at 4 MiB/s and then blocks its writer. */
const turnMs = 16

/** Shared by all pipes, because nothing that is read is used. */
const dropped = Buffer.allocUnsafeSlow(64 * 1024)

/** Read ends of pipes, as descriptors of a running process. */
export type PipesOfProcess = { pid: number; descriptors: readonly number[] }

/** Throws if the descriptor is no pipe. */
const openPipeOf = (pid: number, descriptor: number): number => {
  const fd = openSync(`/proc/${pid}/fd/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK)
  if (fstatSync(fd).isFIFO()) return fd
  closeSync(fd)
  throw new Error('not a pipe')
}

export class LeftPipes {
  readonly #docks = new Map<string, DockPipes>()

  /** True while a pipe is open. */
  get isOpen(): boolean {
    for (const [dockId, pipes] of this.#docks) {
      if (pipes.isOpen) return true
      this.#docks.delete(dockId)
    }
    return false
  }

  /** Opens pipes that a process has open, and reads them. The process may close its own descriptors then. */
  keep(dockId: string, { pid, descriptors }: PipesOfProcess): void {
    const pipes = this.#docks.get(dockId) ?? new DockPipes()
    this.#docks.set(dockId, pipes)
    for (const descriptor of descriptors) pipes.add(openPipeOf(pid, descriptor))
  }

  /** Closes all pipes of a Dock. */
  closeDock(dockId: string): void {
    this.#docks.get(dockId)?.closeAll()
    this.#docks.delete(dockId)
  }
}

/** The pipes of one Dock. */
class DockPipes {
  /** The one that has been silent for longest comes first. */
  readonly #pipes = new Set<Socket>()
  readonly #waiting: Socket[] = []
  #turn: NodeJS.Timeout | undefined

  /** True while a pipe is open. */
  get isOpen(): boolean {
    return this.#pipes.size > 0
  }

  /** Takes over the read end of a pipe. Above {@link leftPipesMax}, closes the pipe that has been silent for longest. */
  add(readFd: number): void {
    const socket: Socket = new Socket({
      ...{ fd: readFd, readable: true, writable: false },
      onread: {
        buffer: dropped,
        callback: () => {
          this.#pipes.delete(socket)
          this.#pipes.add(socket)
          this.#waiting.push(socket)
          this.#turn ??= setTimeout(() => this.#next(), turnMs)
          return false
        },
      },
    })
    socket.on('error', () => undefined)
    socket.once('close', () => this.#pipes.delete(socket))
    this.#pipes.add(socket)
    socket.resume()
    const [silent] = this.#pipes
    if (this.#pipes.size > leftPipesMax && silent) this.#close(silent)
  }

  /** Closes all pipes. */
  closeAll(): void {
    for (const socket of [...this.#pipes]) this.#close(socket)
  }

  #close(socket: Socket): void {
    this.#pipes.delete(socket)
    socket.destroy()
  }

  #next(): void {
    this.#turn = undefined
    const socket = this.#waiting.shift()
    if (this.#waiting.length > 0) this.#turn = setTimeout(() => this.#next(), turnMs)
    if (socket && !socket.destroyed) socket.resume()
  }
}
