/**
 * Wakes requests that wait for the log of a Run. A NOTIFY of the channel `run_logs` names the Run whose log has grown or
 * has ended.
 */
export type RunLogSignals = {
  /** `changed` resolves at the next notice. Call it before the log is read, and `end` when the wait is over. */
  watch(runId: string): { changed: Promise<void>; end(): void }
  /** Handles a notification. Without an id, notifications may have been missed, and all are woken. */
  notice(runId?: string): void
}

export function createRunLogSignals(): RunLogSignals {
  const waiting = new Map<string, Set<() => void>>()
  return {
    watch: (runId) => {
      const { promise: changed, resolve } = Promise.withResolvers<void>()
      const all = waiting.get(runId) ?? new Set()
      waiting.set(runId, all.add(resolve))
      return {
        changed,
        end: () => {
          all.delete(resolve)
          if (all.size === 0 && waiting.get(runId) === all) waiting.delete(runId)
        },
      }
    },
    notice: (runId) => {
      const sets = runId === undefined ? [...waiting.values()] : [waiting.get(runId) ?? []]
      for (const wake of sets.flatMap((set) => [...set])) wake()
    },
  }
}
