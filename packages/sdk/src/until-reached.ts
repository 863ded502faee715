/** Repeats what a broken connection or a restart of the service has interrupted. */
import { ConnectionError, DockApiError } from './dock-error.ts'
import { backoffMs, pause } from './pause.ts'

/** How long to try without any success. A restart of the service takes seconds. */
export const patienceMs = 60_000

const passing = ['service_unavailable', 'bad_gateway', 'exec_busy', 'internal_error']

/** Returns true if the same request may succeed in a moment. */
export function isPassing(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    (error instanceof DockApiError &&
      (passing.includes(error.code) || (error.code === 'bad_response' && error.status >= 502)))
  )
}

/** Counts how long nothing has succeeded. */
export class Patience {
  readonly #signal: AbortSignal | undefined
  #failingSince: number | null = null
  #attempts = 0
  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  /** Notes a success. */
  renew(): void {
    this.#failingSince = null
    this.#attempts = 0
  }

  /** Waits before the next attempt. Throws the error if it will not pass, or if the patience is over. */
  async afterFailure(error: unknown): Promise<void> {
    this.#failingSince ??= Date.now()
    if (!isPassing(error) || Date.now() - this.#failingSince > patienceMs) throw error
    this.#attempts += 1
    await pause(backoffMs(this.#attempts), this.#signal)
  }
}

/** Calls `work` until it succeeds or fails for good. `work` must be harmless to repeat. */
export async function untilReached<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  const patience = new Patience(signal)
  for (;;) {
    try {
      return await work()
    } catch (error) {
      await patience.afterFailure(error)
    }
  }
}
