/**
 * Admits requests to models. What the requests of a Run that are under way may cost together stays within what is left of
 * its budget; otherwise they wait for one another. So a Run exceeds its budget by one request at most. A Run has one
 * machine, whose host is linked to one control plane, so the gate is in this process's memory.
 */
export type BudgetGate = {
  /**
   * Resolves with a function to call once the request's cost has been counted, or with null if nothing is left or nobody
   * waits any more.
   */
  enter(request: {
    runId: string
    /** What the request may cost. */
    costMicroUsd: number
    readLeft(): Promise<number>
    signal: AbortSignal
  }): Promise<(() => void) | null>
}

/** The requests of a Run that are under way. */
type Crowd = { count: number; costMicroUsd: number; departures: number; next: PromiseWithResolvers<void> }

export function createBudgetGate(): BudgetGate {
  const crowds = new Map<string, Crowd>()

  const join = (runId: string, costMicroUsd: number): (() => void) => {
    const crowd = crowds.get(runId) ?? {
      ...{ count: 0, costMicroUsd: 0, departures: 0, next: Promise.withResolvers<void>() },
    }
    crowds.set(runId, crowd)
    crowd.count += 1
    crowd.costMicroUsd += costMicroUsd
    return () => {
      crowd.count -= 1
      crowd.costMicroUsd -= costMicroUsd
      crowd.departures += 1
      if (crowd.count === 0) crowds.delete(runId)
      const { next } = crowd
      crowd.next = Promise.withResolvers<void>()
      next.resolve()
    }
  }

  return {
    enter: async ({ runId, costMicroUsd, readLeft, signal }) => {
      const aborted = new Promise<void>((resolve) =>
        signal.addEventListener('abort', () => resolve(), { once: true }),
      )
      while (!signal.aborted) {
        const before = crowds.get(runId)
        const departures = before?.departures
        const left = await readLeft()
        const crowd = crowds.get(runId)
        // The cost of a request that left meanwhile may be missing in what was read.
        if (crowd !== before || crowd?.departures !== departures) continue
        if (left <= 0) return null
        if (!crowd || crowd.costMicroUsd + costMicroUsd <= left) return join(runId, costMicroUsd)
        await Promise.race([crowd.next.promise, aborted])
      }
      return null
    },
  }
}
