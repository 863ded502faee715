/**
 * The limit of a sandbox's memory group. It is raised for a while when the group is stuck at it, because the sentry may
 * be stuck too, and when little is left: the kernel's own allocations fail at the limit instead of waiting, and the
 * sentry panics if it cannot create a thread or a process.
 */
import type { MemoryGroup, MemoryReading } from './memory-group.ts'

const mebibyte = 2 ** 20
const raiseBytes = 64 * mebibyte
const raisesMax = 4
const tightBytes = 48 * mebibyte

export class MemoryLimit {
  readonly #group: Pick<MemoryGroup, 'setLimit' | 'usedBytes'>
  readonly #usualBytes: number
  #raises = 0

  constructor(group: Pick<MemoryGroup, 'setLimit' | 'usedBytes'>, usualBytes: number) {
    this.#group = group
    this.#usualBytes = usualBytes
  }

  get #bytes(): number {
    return this.#usualBytes + this.#raises * raiseBytes
  }

  /**
   * Sets the usual limit. If more is in use, because an earlier agent had raised the limit, it sets the lowest raised one
   * that the kernel accepts. Throws if there is none.
   */
  set(): void {
    for (;;) {
      try {
        this.#group.setLimit(this.#bytes)
        return
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EBUSY' || this.#raises >= raisesMax) throw error
        this.#raises += 1
      }
    }
  }

  raiseIfTight({ isStuck, chargedBytes }: MemoryReading): void {
    if (!isStuck && chargedBytes < this.#bytes - tightBytes) return
    if (this.#raises >= raisesMax) return
    this.#raises += 1
    try {
      this.#group.setLimit(this.#bytes)
    } catch {}
  }

  /** Sets the usual limit if it was raised. Returns false if it was not, or if more is still in use. */
  restore(): boolean {
    if (this.#raises === 0) return false
    try {
      // Version 2 would kill a process to reach the limit.
      if (this.#group.usedBytes() > this.#usualBytes) return false
      this.#group.setLimit(this.#usualBytes)
    } catch {
      return false
    }
    this.#raises = 0
    return true
  }
}
