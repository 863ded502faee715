/**
 * Counts the open requests about files of this process, by Dock and by person. Each keeps a process in a Dock until it
 * ends, so nobody may hold too many, however slowly they are read or sent.
 */
import { limits, ServiceError } from '@dock/contract'

const { openPerDockMax, openPerUserMax, watchesPerDockMax, watchesPerUserMax } = limits.files

export type OpenRequests = {
  /** Counts a request until the returned function is called. Throws `rate_limited` above a limit. */
  add(kind: 'request' | 'watch', dockId: string, userId: string): () => void
}

const maxima = {
  request: { dock: openPerDockMax, user: openPerUserMax, name: 'requests about files' },
  watch: { dock: watchesPerDockMax, user: watchesPerUserMax, name: 'watches' },
} as const

export function createOpenRequests(): OpenRequests {
  const open = new Map<string, number>()
  return {
    add: (kind, dockId, userId) => {
      const { dock, user, name } = maxima[kind]
      const keys = [`${kind} dock ${dockId}`, `${kind} user ${userId}`] as const
      const refuse = (who: string, max: number): never => {
        throw new ServiceError('rate_limited', {
          message: `${who} ${max} ${name} open, which is the limit. Wait until one ends and try again.`,
        })
      }
      if ((open.get(keys[0]) ?? 0) >= dock) refuse('This Dock has', dock)
      if ((open.get(keys[1]) ?? 0) >= user) refuse('You have', user)
      for (const key of keys) open.set(key, (open.get(key) ?? 0) + 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        for (const key of keys) {
          const left = (open.get(key) ?? 1) - 1
          if (left > 0) open.set(key, left)
          else open.delete(key)
        }
      }
    },
  }
}
