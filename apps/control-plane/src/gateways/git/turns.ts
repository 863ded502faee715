/** Work that blocks the process, one piece at a time. */
import { setImmediate } from 'node:timers/promises'

/**
 * Returns a function that does the work when no other work is waiting, and returns its result. Between two pieces the
 * process serves what has arrived meanwhile.
 */
export function createTurns(): <T>(work: () => T) => Promise<T> {
  let free: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = free.then(work)
    const pause = () => setImmediate()
    free = done.then(pause, pause)
    return done
  }
}
