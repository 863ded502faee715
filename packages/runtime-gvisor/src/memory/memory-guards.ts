/**
 * Looks at the memory of all guarded sandboxes: many times a second at those that use most of theirs, now and then at
 * the others, whose bell rings when that changes. A frozen sandbox takes no memory and is not looked at.
 */
import type { MemoryGuard } from './memory-guard.ts'
import type { SharedMemory } from './shared-memory.ts'

const hotLookMs = 20
const coldLookMs = 250

export class MemoryGuards {
  readonly #guards = new Set<MemoryGuard>()
  #timer: NodeJS.Timeout | undefined
  #coldLookAtMs = 0
  #hot = new Set<MemoryGuard>()
  #shared: SharedMemory | undefined
  #isSharedHot = false

  /** Watches from now on what all sandboxes together use. */
  watchShared(shared: SharedMemory): void {
    this.#shared = shared
  }

  add(guard: MemoryGuard): void {
    this.#guards.add(guard)
    this.#timer ??= setInterval(() => this.#look(), hotLookMs).unref()
  }

  remove(guard: MemoryGuard): void {
    guard.close()
    this.#guards.delete(guard)
    this.#hot.delete(guard)
    if (this.#guards.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #look(): void {
    const now = performance.now()
    const isColdLook = now >= this.#coldLookAtMs
    if (isColdLook) this.#coldLookAtMs = now + coldLookMs
    // Before the guards look: one that has to give way begins at once.
    if (this.#isSharedHot || isColdLook) this.#isSharedHot = this.#shared?.look(this.#guards) ?? false
    for (const guard of isColdLook ? this.#guards : this.#hot) {
      if (guard.look()) this.#hot.add(guard)
      else this.#hot.delete(guard)
    }
  }
}
