import type { Duplex } from 'node:stream'
import { type Precedence, throttleLargeStream } from '@dock/foundation'

/**
 * Connects both streams. The end of one direction leaves the other open; an error on one side destroys both. Large
 * transfers yield to commands. If one side was closed before the call, the other is destroyed.
 */
export function pipePort(one: Duplex, other: Duplex, precedence: Precedence): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => undefined)
    const close = (): void => {
      if (from.errored || !from.readableEnded || !from.writableFinished)
        to.destroy(new Error('the other side of the connection failed'))
    }
    if (from.closed) close()
    from.once('close', close)
    throttleLargeStream(from, to, precedence)
    from.pipe(to)
  }
}
