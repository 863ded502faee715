/** Counts the streams of processes that a person has open in this process. */
import { limits, ServiceError } from '@dock/contract'

const { openPerUserMax } = limits.processes

export type OpenStreams = {
  /** Counts a stream until the returned function is called. Throws `rate_limited` at the limit. */
  add(userId: string): () => void
}

export function createOpenStreams(): OpenStreams {
  const open = new Map<string, number>()
  return {
    add: (userId) => {
      const count = open.get(userId) ?? 0
      if (count >= openPerUserMax)
        throw new ServiceError('rate_limited', {
          message: `You have ${openPerUserMax} streams of processes open. Close one and try again.`,
        })
      open.set(userId, count + 1)
      let isOver = false
      return () => {
        if (isOver) return
        isOver = true
        const left = (open.get(userId) ?? 1) - 1
        if (left > 0) open.set(userId, left)
        else open.delete(userId)
      }
    },
  }
}
