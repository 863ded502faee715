import type { Duplex } from 'node:stream'
import { type Precedence, standBack } from '@dock/foundation'

/**
 * Joins a connection with its server in a Dock. An end on one side ends that direction only; a break on one side breaks
 * both. Large transfers stand back for commands.
 */
export function carryPort(one: Duplex, other: Duplex, precedence: Precedence): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.on('error', () => undefined)
    from.once('close', () => {
      if (from.errored || !from.readableEnded || !from.writableFinished)
        to.destroy(new Error('the other side broke'))
    })
    standBack(from, to, precedence)
    from.pipe(to)
  }
}
