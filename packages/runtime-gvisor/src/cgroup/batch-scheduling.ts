/**
 * Runs a sandbox's threads under SCHED_BATCH for the first 100 ms of a command, so that a woken thread does not preempt
 * the thread that woke it. A sentry and its processes wake each other thousands of times per command, and most of these
 * context switches are wasted. Used only while a processor is spare: beside busy neighbours the sandbox would have to
 * wait for them (docs/how-dock-is-fast.md).
 */
import { type Clock, systemClock } from '@dock/foundation'
import { hasSpareCpu } from '../system/spare-cpu.ts'

export const batchMs = 100

export class BatchScheduling {
  readonly #setBatch: (isBatch: boolean) => void
  readonly #hasSpareCpu: () => boolean
  readonly #clock: Clock
  #isBatch = false
  #cancel = (): void => undefined

  /** `setBatch` switches the sandbox's threads to or from SCHED_BATCH. Its errors are ignored. */
  constructor(setBatch: (isBatch: boolean) => void, isCpuSpare = hasSpareCpu, clock = systemClock) {
    this.#setBatch = setBatch
    this.#hasSpareCpu = isCpuSpare
    this.#clock = clock
  }

  /** Call it when a command begins. */
  begin(): void {
    if (!this.#hasSpareCpu()) return
    if (!this.#isBatch) this.#set(true)
    this.resetSoon()
  }

  /** Switches back after {@link batchMs}. Call it also after a boot, which may have started under SCHED_BATCH. */
  resetSoon(): void {
    this.#isBatch = true
    this.#cancel()
    this.#cancel = this.#clock.after(batchMs, () => this.#set(false))
  }

  /** Call it when the sandbox is gone. */
  close(): void {
    this.#cancel()
  }

  #set(isBatch: boolean): void {
    this.#isBatch = isBatch
    try {
      this.#setBatch(isBatch)
    } catch {
      // The sandbox is dying, or the kernel refuses: commands only run slower.
    }
  }
}
