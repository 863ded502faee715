/** The orders that end the agent. They come as signals, and a later one may ask for more than the first. */

/** `leave`: end the agent, and leave the sandboxes running for the next one. `shutdown`: end the sandboxes first. */
export type Order = 'leave' | 'shutdown'

type Signals = { on(signal: 'SIGTERM' | 'SIGUSR2' | 'SIGINT', listener: () => void): unknown }

export type Orders = {
  /** Resolves with the first signal. */
  readonly given: Promise<void>
  /** The order so far. A shutdown stands, also when SIGTERM comes before or after it. */
  readonly present: Order
}

/** Listens to the signals of the process from now on. */
export function awaitOrders(signals: Signals): Orders {
  const given = Promise.withResolvers<void>()
  let present: Order = 'leave'
  const shutDown = (): void => {
    present = 'shutdown'
    given.resolve()
  }
  signals.on('SIGTERM', () => given.resolve())
  signals.on('SIGUSR2', shutDown)
  signals.on('SIGINT', shutDown)
  return {
    given: given.promise,
    get present() {
      return present
    },
  }
}
