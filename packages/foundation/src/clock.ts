/** Time as a dependency, so that tests can advance it instead of waiting. */
export type Clock = {
  /** Wall-clock time. */
  now(): Date
  /** Calls `callback` once after `delayMs`. The returned function cancels it. Timers do not keep the process alive. */
  after(delayMs: number, callback: () => void): () => void
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
