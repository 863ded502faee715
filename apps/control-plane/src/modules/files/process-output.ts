/** Reads the output of a program in a Dock, which is hostile until proven otherwise: lines first, then bytes. */
import type { Readable } from 'node:stream'

/** A name of 255 and a target of 4,096 bytes in hexadecimal fit. */
const lineBytesMax = 16 * 1024
const diagnosticsBytesMax = 4 * 1024
const newline = 0x0a

export type ProcessOutput = {
  /** Returns the next line, or null at the end. Throws if it is too long. */
  readLine(): Promise<string | null>
  /** Returns the bytes after the lines that were read, or null at the end. */
  readBytes(): Promise<Buffer | null>
}

export function readOutput(stdout: Readable): ProcessOutput {
  const chunks: AsyncIterator<Buffer> = stdout[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  const next = async (): Promise<Buffer | null> => {
    const { done, value } = await chunks.next()
    return done ? null : value
  }
  return {
    readLine: async () => {
      for (;;) {
        const end = rest.indexOf(newline)
        if (end >= 0) {
          const line = rest.toString('latin1', 0, end)
          rest = rest.subarray(end + 1)
          return line
        }
        if (rest.length > lineBytesMax) throw new Error('a line is too long')
        const chunk = await next()
        if (!chunk) return null
        rest = Buffer.concat([rest, chunk])
      }
    },
    readBytes: async () => {
      if (rest.length === 0) return next()
      const bytes = rest
      rest = Buffer.alloc(0)
      return bytes
    },
  }
}

/** Reads the stream to its end and returns a function that returns its last bytes as text. */
export function keepDiagnostics(stderr: Readable): () => string {
  let kept: Buffer = Buffer.alloc(0)
  stderr.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk.subarray(-diagnosticsBytesMax)]).subarray(-diagnosticsBytesMax)
  })
  return () => kept.toString('latin1')
}
