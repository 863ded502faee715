/** How many terminals are open, by Dock and by user, in this process. The host counts a Dock's own once more. */
import { limits, ServiceError } from '@dock/contract'

const { openPerDockMax, openPerUserMax } = limits.terminal

export type OpenTerminals = {
  /** Throws `rate_limited` when one more is too many. */
  check(dockId: string, userId: string): void
  /** Counts one; the answer ends it. Throws as {@link OpenTerminals.check}. */
  add(dockId: string, userId: string): () => void
}

export function createOpenTerminals(): OpenTerminals {
  const open = new Set<{ dockId: string; userId: string }>()
  const check = (dockId: string, userId: string): void => {
    const all = [...open]
    if (all.filter((each) => each.dockId === dockId).length >= openPerDockMax) throw tooManyInDock()
    if (all.filter((each) => each.userId === userId).length >= openPerUserMax)
      throw new ServiceError('rate_limited', {
        message: `You have ${openPerUserMax} terminals open. Close one and try again.`,
      })
  }
  return {
    check,
    add: (dockId, userId) => {
      check(dockId, userId)
      const terminal = { dockId, userId }
      open.add(terminal)
      return () => void open.delete(terminal)
    },
  }
}

export function tooManyInDock(): ServiceError {
  return new ServiceError('rate_limited', {
    message: `${openPerDockMax} terminals are open in this Dock. Close one and try again.`,
  })
}
