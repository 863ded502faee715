/** Reads again what live changes have made old, with as few reads as many changes need. */
import type { LiveChange } from '@dock/sdk'

export type LiveKind = LiveChange['kind']

/** Kinds of changes that are not the first part of a query's key, but read with another kind. */
const keyOfKind: Readonly<Partial<Record<LiveKind, string>>> = { member: 'organization' }

const changesTogetherMs = 40

/** What changed. */
export type Noticed = Pick<LiveChange, 'kind' | 'id'>

export type Refresher = { notice(changes: readonly Noticed[]): void; stop(): void }

/**
 * `refresh` reads again what a key begins with, for changes of these objects, and resolves when that is shown. While it
 * works, further changes of the key wait and cause one more read together: a read that every change started again would never
 * end on a busy instance.
 */
export function createRefresher(
  refresh: (key: string, ids: ReadonlySet<string>) => Promise<unknown>,
): Refresher {
  /** The objects of a key that changed since its last read began. */
  const changed = new Map<string, Set<string>>()
  /** Keys that wait for their read, or whose read is under way. */
  const busy = new Set<string>()
  const timers = new Set<ReturnType<typeof setTimeout>>()
  let hasStopped = false

  const read = (key: string): void => {
    const ids = changed.get(key) ?? new Set()
    changed.delete(key)
    void refresh(key, ids)
      .catch(() => undefined)
      .finally(() => {
        busy.delete(key)
        if (changed.has(key)) schedule(key)
      })
  }
  const schedule = (key: string): void => {
    if (hasStopped || busy.has(key)) return
    busy.add(key)
    const timer = setTimeout(() => {
      timers.delete(timer)
      read(key)
    }, changesTogetherMs)
    timers.add(timer)
  }
  return {
    notice: (changes) => {
      for (const { kind, id } of changes) {
        const key = keyOfKind[kind] ?? kind
        changed.set(key, (changed.get(key) ?? new Set()).add(id))
        schedule(key)
      }
    },
    stop: () => {
      hasStopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
