/** Waits. Rejects with the signal's reason when it aborts. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

/** Returns the wait before attempt `attempt` (from 1): it doubles, up to five seconds, and is spread. */
export function backoffMs(attempt: number): number {
  return Math.min(5000, 100 * 2 ** attempt) * (0.5 + Math.random() / 2)
}
