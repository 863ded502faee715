/** Waits for all, so that nothing is still being done when it is undone or answered; then throws the first failure. */
export async function settleAll<Results extends unknown[]>(
  work: {
    [Index in keyof Results]: Promise<Results[Index]>
  },
): Promise<Results> {
  await Promise.allSettled(work)
  return (await Promise.all(work)) as Results
}
