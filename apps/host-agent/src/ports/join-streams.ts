import type { Duplex } from 'node:stream'

/** Carries bytes both ways. An end on one side ends that direction only; a break on one side breaks both. */
export const joinStreams = (one: Duplex, other: Duplex): void => {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => undefined)
    from.once('close', () => {
      if (from.errored || !from.readableEnded || !from.writableFinished)
        to.destroy(new Error('the other side broke'))
    })
    from.pipe(to)
  }
}
