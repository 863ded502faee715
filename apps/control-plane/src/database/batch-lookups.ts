/**
 * Combines lookups by key that every request makes: lookups that arrive while a query runs share the next query.
 * Results are not cached; each lookup's query starts after the lookup did.
 */

export type Lookup<Value> = (key: string) => Promise<Value | undefined>

type Waiting<Value> = { resolve(value: Value | undefined): void; reject(error: unknown): void }

/** Limit of concurrent queries. With two, one query runs while the previous one's results are processed. */
const underWayMax = 2
const keysMax = 500

/** Returns a lookup function. `load` returns a map of the keys that it found; the other keys resolve to undefined. */
export function batchLookups<Value>(
  load: (keys: string[]) => Promise<ReadonlyMap<string, Value>>,
): Lookup<Value> {
  const waiting = new Map<string, Waiting<Value>[]>()
  let underWay = 0
  let scheduled = false

  const send = async (): Promise<void> => {
    scheduled = false
    const keys = [...waiting.keys()].slice(0, keysMax)
    const batch = keys.map((key) => [key, waiting.get(key)!] as const)
    for (const key of keys) waiting.delete(key)
    underWay += 1
    schedule()
    try {
      const found = await load(keys)
      for (const [key, askers] of batch) for (const asker of askers) asker.resolve(found.get(key))
    } catch (error) {
      for (const [, askers] of batch) for (const asker of askers) asker.reject(error)
    } finally {
      underWay -= 1
      schedule()
    }
  }
  const schedule = (): void => {
    if (scheduled || waiting.size === 0 || underWay === underWayMax) return
    scheduled = true
    // Waits until all input of this event loop turn is read, so that requests that arrive together share a query.
    setImmediate(() => void send())
  }

  return (key) =>
    new Promise((resolve, reject) => {
      const askers = waiting.get(key)
      if (askers) askers.push({ resolve, reject })
      else waiting.set(key, [{ resolve, reject }])
      schedule()
    })
}
