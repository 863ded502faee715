import type { Clock } from './clock.ts'

/** Returns the result of `work`, or `late` if it takes longer than `ms`. The work goes on in that case. */
export async function waitAtMost<Answer>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  work: Promise<Answer>,
): Promise<Answer | 'late'> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>()
  const cancel = clock.after(ms, () => resolve('late'))
  return await Promise.race([work, late]).finally(cancel)
}
