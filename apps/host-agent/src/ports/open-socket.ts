import { connect, type Socket } from 'node:net'

const connectTimeoutMs = 5_000

/** What a network says when there is a machine but no server. */
const absent = new Set(['ECONNREFUSED', 'ECONNRESET'])

/** A TCP connection that may be closed one way at a time, or null when nothing listens there. Throws on all else. */
export function openSocket(address: string, port: number): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true })
    const late = (): void => void socket.destroy(new Error(`port ${port} does not answer`))
    socket.setTimeout(connectTimeoutMs, late)
    const fail = (error: NodeJS.ErrnoException): void => {
      if (absent.has(error.code ?? '')) resolve(null)
      else reject(error)
    }
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.off('error', fail)
      // Whoever uses it hears of its errors; until then nobody else does.
      socket.on('error', () => undefined)
      socket.off('timeout', late)
      socket.setTimeout(0)
      resolve(socket)
    })
  })
}
