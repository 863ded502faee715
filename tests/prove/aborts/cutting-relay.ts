/** Passes one connection on, and cuts it after so many bytes in either direction. */

import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

export type Relay = { port: number; close(): void }

/** Starts a relay to the port on loopback. The connection ends for both sides after `bytesMax`, by a reset or in order. */
export async function startRelay(to: number, bytesMax: number, byReset: boolean): Promise<Relay> {
  const ends: (() => void)[] = []
  const server = createServer((inner) => {
    const outer = connect(to, '127.0.0.1')
    let passed = 0
    const end = (): void => {
      for (const each of [inner, outer])
        if (byReset) each.resetAndDestroy()
        else each.destroy()
    }
    ends.push(end)
    for (const [from, onto] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      from.on('error', end).on('close', end)
      from.on('data', (piece) => {
        passed += piece.length
        if (!onto.write(piece)) {
          from.pause()
          onto.once('drain', () => from.resume())
        }
        if (passed >= bytesMax) end()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close()
      for (const end of ends) end()
    },
  }
}
