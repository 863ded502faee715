/** Limits how many large bodies of strangers are in memory at once. Each connection could fill one otherwise. */
import { ServiceError } from '@dock/contract'
import { readBytes } from './read-body.ts'

export type LargeBodies = {
  /**
   * Calls `use` with a function that reads the body, of at most the bytes that it is called with. A large body has its
   * place until `use` has ended.
   */
  use<T>(request: Request, use: (read: (atMost?: number) => Promise<Uint8Array>) => Promise<T>): Promise<T>
}

const retryAfterSeconds = 10

/**
 * A body of up to `smallBytesMax` needs no place. While all places are taken, `read` throws `service_unavailable` for a larger
 * body.
 */
export function createLargeBodies(limits: {
  bytesMax: number
  smallBytesMax: number
  atOnceMax: number
}): LargeBodies {
  const { bytesMax, smallBytesMax, atOnceMax } = limits
  let taken = 0

  const requirePlace = (): void => {
    if (taken >= atOnceMax)
      throw new ServiceError('service_unavailable', {
        message: 'Too many large requests are being read. Send it again in a moment.',
        retryAfterSeconds,
      })
  }

  return {
    use: async (request, use) => {
      let hasPlace = false
      const read = async (atMost = bytesMax): Promise<Uint8Array> => {
        if (Number(request.headers.get('content-length') ?? 0) > smallBytesMax) requirePlace()
        return readBytes(request, Math.min(atMost, bytesMax), (_chunk, total) => {
          // A place is taken only by bytes that have arrived, so announcing a large body blocks nobody.
          if (hasPlace || total <= smallBytesMax) return
          requirePlace()
          taken += 1
          hasPlace = true
        })
      }
      try {
        return await use(read)
      } finally {
        if (hasPlace) taken -= 1
      }
    },
  }
}
