/** Moves what a process writes into its kept output. The pipe fills up and blocks the process while the output is held back. */
import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { OutputStream } from './output-store.ts'

const chunkBytes = 64 * 1024
/** Pause before a write is repeated that failed, such as on a full disk. */
const retryMs = 1_000

export type Pump = {
  /** Returns the read end, or null if the pipe has ended. */
  heldFd(): number | null
  /** Closes the pipe at once. */
  stop(): void
}

/** Reads the pipe until its last writer has closed it. */
export function pumpOutput(readFd: number, output: OutputStream, log: (error: unknown) => void): Pump {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes)
  let isClosed = false

  const keep = async (chunk: Uint8Array): Promise<void> => {
    while (!isClosed) {
      try {
        return await output.append(chunk)
      } catch (error) {
        log(error)
        await delay(retryMs)
      }
    }
  }
  const socket = new Socket({
    ...{ fd: readFd, readable: true, writable: false },
    onread: {
      buffer,
      callback: (length, filled) => {
        void keep(filled.subarray(0, length)).then(() => socket.resume())
        return false
      },
    },
  })
  const finish = (): void => {
    output.finish().catch(log)
  }
  socket.on('error', log)
  // The last chunk is kept before `end` is emitted, because the socket is paused until then.
  socket.once('end', finish)
  socket.once('close', finish)
  socket.resume()
  return {
    heldFd: () => (socket.destroyed ? null : readFd),
    stop: () => {
      isClosed = true
      socket.destroy()
    },
  }
}
