/**
 * Loads code of the dashboard, again after each pause if that fails. On the machine of the service browsers drop their
 * requests whenever an address of the machine changes, which it does with every Dock.
 */
export async function loadPatiently<T>(
  load: () => Promise<T>,
  pausesMs: readonly number[] = [200, 800, 2_000],
): Promise<T> {
  for (const pauseMs of pausesMs)
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  return load()
}
