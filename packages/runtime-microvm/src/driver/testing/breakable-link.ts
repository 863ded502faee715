/** A relay between a host and a port of a guest for tests, which breaks the connection in the middle of what is under way. */
import { createServer, type Server, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** Without a chunk to cut, the connection breaks between frames. */
const breakMs = 100

type Cut = { from: 'host' | 'guest'; at: number; done: (wasCut: boolean) => void }

export class BreakableLink {
  readonly path: string
  readonly #dial: () => Duplex
  readonly #server: Server
  readonly #open = new Set<Duplex>()
  #cut: Cut | undefined

  private constructor(path: string, dial: () => Duplex) {
    this.path = path
    this.#dial = dial
    this.#server = createServer((host) => this.#relay(host))
  }

  /** Listens on the path. */
  static async open(path: string, dial: () => Duplex): Promise<BreakableLink> {
    const link = new BreakableLink(path, dial)
    await new Promise<void>((resolve) => link.#server.listen(path, resolve))
    return link
  }

  /** Cuts the next chunk of one side somewhere. Resolves with false if none came, so that nothing was under way. */
  async break(seed: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#cut = { from: seed % 2 === 0 ? 'host' : 'guest', at: seed * 3_137 + 1, done: resolve }
    const timer = setTimeout(resolve, breakMs, false)
    const wasCut = await promise
    clearTimeout(timer)
    this.#cut = undefined
    this.#breakAll()
    return wasCut
  }

  close(): void {
    this.#server.close()
    this.#breakAll()
  }

  #breakAll(): void {
    for (const stream of this.#open) stream.destroy()
    this.#open.clear()
  }

  #relay(host: Socket): void {
    const guest = this.#dial()
    const end = (): void => {
      for (const stream of [host, guest]) {
        stream.destroy()
        this.#open.delete(stream)
      }
    }
    for (const [name, from, to] of [['host', host, guest] as const, ['guest', guest, host] as const]) {
      this.#open.add(from)
      from.on('error', () => undefined)
      from.on('close', end)
      from.on('data', (chunk: Buffer) => {
        const cut = this.#cut
        if (cut?.from === name) {
          this.#cut = undefined
          from.pause()
          to.write(chunk.subarray(0, cut.at % chunk.length), () => cut.done(true))
          return
        }
        if (to.write(chunk)) return
        from.pause()
        to.once('drain', () => from.resume())
      })
    }
  }
}
