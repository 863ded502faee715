import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Returns a port of this machine that nothing listens on. It lies below the range from which Linux gives ports to
 * outgoing connections: one of those would make the port busy before the caller binds it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = randomInt(10_000, 32_768)
    const probe = createServer().listen(port)
    try {
      await once(probe, 'listening')
    } catch {
      continue
    }
    probe.close()
    await once(probe, 'close')
    return port
  }
  throw new Error('found no free port')
}
