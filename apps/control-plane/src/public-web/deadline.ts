/** One deadline over several steps that may each hang. */

export class DeadlineExceeded extends Error {}

/**
 * Runs `work` and settles at the latest after `deadlineMs`, even if `work` never does: it then rejects with
 * DeadlineExceeded, or with the reason of `signal` if that aborts first. The signal that `work` receives aborts in any
 * case at the end, so that `work` can bind everything that it opens to it.
 */
export async function runWithDeadline<T>(
  deadlineMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const stop = (): void => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(new DeadlineExceeded()), deadlineMs)
  signal?.addEventListener('abort', stop, { once: true })
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  try {
    return await Promise.race([work(controller.signal), aborted])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
    controller.abort()
  }
}
