import type { Clock } from '@dock/foundation'

/** What `work` answers, or `late` when it has not by then: it goes on all the same. */
export async function within<Answer>(
  clock: Clock,
  ms: number,
  work: Promise<Answer>,
): Promise<Answer | 'late'> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const cancel = clock.after(ms, () => resolve('late'))
  return await Promise.race([work, late]).finally(cancel)
}
