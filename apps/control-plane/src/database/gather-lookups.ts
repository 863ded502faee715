/**
 * Lookups by key that every request makes, gathered: what is asked while the database answers goes to it as one query.
 * Nothing is kept; the query that answers a lookup begins after the lookup did.
 */

export type Lookup<Value> = (key: string) => Promise<Value | undefined>

type Waiting<Value> = { resolve(value: Value | undefined): void; reject(error: unknown): void }

/** Queries under way at once: the next is sent while one is answered, and all that come meanwhile wait together. */
const underWayMax = 2
const keysMax = 500

/** `load` answers what it found of the keys; what is missing in the map is undefined. */
export function gatherLookups<Value>(
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
    // After what has arrived by now was read, so that requests of one moment share a query.
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
