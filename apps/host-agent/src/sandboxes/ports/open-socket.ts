import { connect, type Socket } from 'node:net'

const connectTimeoutMs = 5_000

/** Error codes if the machine exists but nothing listens on the port. */
const absent = new Set(['ECONNREFUSED', 'ECONNRESET'])

/** Opens a TCP connection with half-close. Returns null if nothing listens on the port. Throws on other errors. */
export function openSocket(address: string, port: number): Promise<Socket | null> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true })
    const late = (): void => void socket.destroy(new Error(`port ${port} does not respond`))
    socket.setTimeout(connectTimeoutMs, late)
    const fail = (error: NodeJS.ErrnoException): void => {
      if (absent.has(error.code ?? '')) resolve(null)
      else reject(error)
    }
    socket.once('error', fail)
    socket.once('connect', () => {
      socket.off('error', fail)
      // Prevents an uncaught exception until the caller adds its own error listener.
      socket.on('error', () => undefined)
      socket.off('timeout', late)
      socket.setTimeout(0)
      resolve(socket)
    })
  })
}
