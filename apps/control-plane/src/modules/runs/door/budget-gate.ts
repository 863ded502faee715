/**
 * Admits requests to models. Together, the requests of a Run in progress may cost at most what is left of its budget;
 * further requests wait. So a Run exceeds its budget by at most one request. A Run has one machine, and its host is linked
 * to one control plane, so this process's memory is enough.
 */
export type BudgetGate = {
  /**
   * Resolves with a function to call once the request's cost has been counted. Resolves with null if the budget is used up
   * or `signal` aborts.
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
      count: 0,
      costMicroUsd: 0,
      departures: 0,
      next: Promise.withResolvers<void>(),
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
        // The cost of a request that ended during the read may be missing in the result.
        if (crowd !== before || crowd?.departures !== departures) continue
        if (left <= 0) return null
        if (!crowd || crowd.costMicroUsd + costMicroUsd <= left) return join(runId, costMicroUsd)
        await Promise.race([crowd.next.promise, aborted])
      }
      return null
    },
  }
}
