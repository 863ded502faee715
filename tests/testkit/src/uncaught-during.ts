/** Collects the errors that would have ended the process. */

const kinds = ['uncaughtException', 'unhandledRejection'] as const

/** Time for events and rejections that were caused so far. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/**
 * Runs `work`, and returns the errors and rejections that nothing caught meanwhile. Vitest's own listeners would fail the
 * run without naming the test.
 */
export async function uncaughtDuring(work: () => unknown): Promise<unknown[]> {
  const uncaught: unknown[] = []
  const keep = (error: unknown): void => void uncaught.push(error)
  const former = kinds.map((kind) => process.listeners(kind as 'uncaughtException'))
  for (const kind of kinds) process.removeAllListeners(kind).on(kind, keep)
  try {
    await work()
    await settle()
  } finally {
    kinds.forEach((kind, at) => {
      process.off(kind, keep)
      for (const listener of former[at] ?? []) process.on(kind, listener)
    })
  }
  return uncaught
}
