/**
 * Checks the memory of all guarded sandboxes: every 20 ms those that use most of their memory, every 250 ms the others,
 * which also get kernel notifications. A frozen sandbox allocates no memory and is not checked.
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

  /** From now on, also watches the total memory of all sandboxes. */
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
    // Check the total first, so that a sandbox that must free memory starts at once.
    if (this.#isSharedHot || isColdLook) this.#isSharedHot = this.#shared?.look(this.#guards) ?? false
    for (const guard of isColdLook ? this.#guards : this.#hot) {
      if (guard.look()) this.#hot.add(guard)
      else this.#hot.delete(guard)
    }
  }
}
