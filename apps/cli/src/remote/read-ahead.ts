/** Reads a stream ahead, so that few large pieces are sent instead of many small ones. */
import type { Readable } from 'node:stream'

const aheadBytesMax = 4 * 1024 * 1024

/** Yields everything that has arrived since the last piece. */
export async function* readAhead(source: Readable): AsyncGenerator<Buffer<ArrayBuffer>> {
  let pieces: Buffer[] = []
  let bytes = 0
  let isEnded = false
  let failure: Error | undefined
  let wake = (): void => undefined
  const take = (piece: Buffer): void => {
    pieces.push(piece)
    bytes += piece.length
    if (bytes >= aheadBytesMax) source.pause()
    wake()
  }
  const end = (error?: Error): void => {
    isEnded = true
    if (error instanceof Error) failure = error
    wake()
  }
  source.on('data', take).once('end', end).once('close', end).once('error', end)
  try {
    for (;;) {
      if (bytes === 0) {
        if (failure) throw failure
        if (isEnded) return
        await new Promise<void>((resolve) => {
          wake = resolve
        })
        continue
      }
      const whole = Buffer.concat(pieces)
      pieces = []
      bytes = 0
      source.resume()
      yield whole
    }
  } finally {
    source.off('data', take).pause()
  }
}
