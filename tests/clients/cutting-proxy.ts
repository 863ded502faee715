/** A proxy between a client and Dock that breaks connections, as bad networks do. */
import { connect, createServer, type Socket } from 'node:net'

export type CuttingProxy = {
  baseUrl: string
  /** How many connections were broken so far. */
  cuts(): number
  close(): Promise<void>
}

/** Breaks each connection after so many bytes in both directions together: the next number of the list, in turn. */
export async function startCuttingProxy(target: string, bytes: readonly number[]): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  let connections = 0
  let cuts = 0
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    let left = bytes[connections++ % bytes.length]!
    const end = (): void => {
      near.destroy()
      far.destroy()
    }
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from)
      from.on('error', end).on('close', () => {
        open.delete(from)
        end()
      })
      from.on('data', (chunk: Buffer) => {
        const part = chunk.subarray(0, left)
        left -= part.length
        if (!to.write(part)) {
          from.pause()
          to.once('drain', () => from.resume())
        }
        if (left > 0) return
        cuts += 1
        // What was passed on so far arrives; then the connection breaks.
        to.end(end)
        from.pause()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    cuts: () => cuts,
    close: () => {
      for (const socket of open) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
