/** Waits for all promises, so that no work is still running when the caller goes on. Then throws the first error. */
export async function settleAll<Results extends unknown[]>(
  work: {
    [Index in keyof Results]: Promise<Results[Index]>
  },
): Promise<Results> {
  await Promise.allSettled(work)
  return (await Promise.all(work)) as Results
}
