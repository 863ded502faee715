/** Time as a dependency, so that tests drive it instead of waiting. */
export type Clock = {
  /** Wall-clock time. */
  now(): Date
  /** Calls back once after `delayMs`; the answer cancels it. A pending timer does not keep the process alive. */
  after(delayMs: number, callback: () => void): () => void
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => new Date(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
