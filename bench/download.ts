/**
 * A client of hosted ports with minimal CPU use, in a separate process, so that it does not slow down the measurement.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'

const [marker, listening, host, size] = process.argv.slice(2)

/** Reads until the server closes. Returns the number of bytes received, including the head. */
const takeBytes = (): Promise<number> =>
  new Promise((resolve, reject) => {
    let received = 0
    const count = (bytes: number): boolean => {
      received += bytes
      return true
    }
    const socket = connect({
      ...{ host: '127.0.0.1', port: Number(listening) },
      onread: { buffer: Buffer.alloc(1024 * 1024), callback: count },
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(received)).resume()
    socket.write(`GET /megabytes/${size} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
  })

/** Downloads once. Returns megabytes per second. */
export async function download(url: string, megabytes: number): Promise<number> {
  const { host, port } = new URL(url)
  const child = fork(import.meta.filename, ['--take', port, host, String(megabytes)])
  await once(child, 'spawn')
  const [{ received, ms }] = (await once(child, 'message')) as [{ received: number; ms: number }]
  const bytes = megabytes * 1024 * 1024
  if (received < bytes || received > bytes + 4096) throw new Error(`received ${received} of ${bytes} bytes`)
  return megabytes / (ms / 1000)
}

if (marker === '--take') {
  const begin = performance.now()
  const received = await takeBytes()
  process.send?.({ received, ms: performance.now() - begin })
}
