/** Counts the open terminals of this process by Dock and by user. */
import { limits } from '@dock/contract'
import { tooManyInDock, tooManyOfUser } from './terminal-words.ts'

const { openPerDockMax, openPerUserMax } = limits.terminal

export type OpenTerminals = {
  /** Throws `rate_limited` if the Dock or the user has reached the limit. */
  check(dockId: string, userId: string): void
  /** Adds a terminal and returns a function that removes it. Throws `rate_limited` at the limit. */
  add(dockId: string, userId: string): () => void
}

/** Creates the counter of one process. */
export function createOpenTerminals(): OpenTerminals {
  const open = new Set<{ dockId: string; userId: string }>()
  const check = (dockId: string, userId: string): void => {
    const all = [...open]
    if (all.filter((each) => each.dockId === dockId).length >= openPerDockMax) throw tooManyInDock()
    if (all.filter((each) => each.userId === userId).length >= openPerUserMax) throw tooManyOfUser()
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
