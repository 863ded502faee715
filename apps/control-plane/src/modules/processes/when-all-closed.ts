import type { Readable } from 'node:stream'

/** Calls `then` once all streams are closed. Some may be closed already, because their link has broken. */
export function whenAllClosed(streams: readonly Readable[], then: () => void): void {
  let open = streams.length
  const onClose = (): void => {
    open -= 1
    if (open === 0) then()
  }
  for (const stream of streams) {
    if (stream.closed) onClose()
    else stream.once('close', onClose)
  }
}
