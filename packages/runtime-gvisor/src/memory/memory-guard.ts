/**
 * Keeps a sandbox alive when it runs out of memory. The limit of its control group is the Dock's memory plus a headroom
 * for the sentry. When the Dock's memory is used up, the guard kills the largest process inside, or the processes
 * of a fork bomb (decision 022), before the kernel would kill the sandbox.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { MemoryGroup } from './memory-group.ts'
import { MemoryLimit } from './memory-limit.ts'
import { ProcessSizes } from './process-sizes.ts'
import { Relief, type ReliefParts, type SandboxMemory } from './relief.ts'
import type { Sharer } from './shared-memory.ts'

const mebibyte = 2 ** 20
/** Memory that a sandbox's group may use beyond the Dock's memory. */
export const headroomMiB = 128
/** The guard acts when less than this is left of the Dock's memory. */
const marginBytes = 6 * mebibyte
const enoughShare = 0.92
const hotShare = 0.8
const roundMs = 5
/** Pause between rounds if there is nothing left to kill. */
const idleRoundMs = 50
/**
 * A group stuck for this long is left to the kernel's OOM killer: a sandbox that hangs is worse than one that reboots.
 */
const stuckMaxMs = 10_000
/** A death within this time after a shortage counts as out of memory. */
const deathAfterMs = 15_000
/** A call that fails within this time after a shortage failed because of it. */
const shortForMs = 1_000
/** If an attempt to free memory fails, the next one reuses what it learned for this long. Later it starts afresh. */
const reliefKeptMs = 10_000
/** A sandbox that was asked to free memory stops killing processes after this time. */
const reductionMs = 2_000

export type MemoryGuardParts = {
  group: MemoryGroup
  memoryMiB: number
  sentry(): Promise<SandboxMemory>
  onEnded: ReliefParts['onEnded']
  /** Ends the whole sandbox. */
  endSandbox(): void
}

export class MemoryGuard implements Sharer {
  readonly #parts: MemoryGuardParts
  readonly #limit: MemoryLimit
  readonly #triggerBytes: number
  readonly #hotBytes: number
  readonly #sizes = new ProcessSizes()
  #stopListening = (): void => undefined
  #acting: Promise<void> | undefined
  #ending: Promise<void> | undefined
  /** What the last attempt to free memory learned, if it failed. */
  #relief: { of: Relief; failedAtMs: number } | undefined
  #isFrozen = false
  #isClosed = false
  #shortAtMs = Number.NEGATIVE_INFINITY
  /** How many processes the kernel had killed when the guard began. The group may be older than the guard. */
  #kernelKills = 0
  #stuckSinceMs: number | undefined
  /** A temporary target, set because all sandboxes together use too much. */
  #reduction: { toBytes: number; untilMs: number } | undefined

  /** Raises the group's limit by the headroom and disables the kernel's OOM killer. Throws if that fails. */
  constructor(parts: MemoryGuardParts) {
    this.#parts = parts
    const { group, memoryMiB } = parts
    this.#limit = new MemoryLimit(group, (memoryMiB + headroomMiB) * mebibyte)
    this.#triggerBytes = memoryMiB * mebibyte - marginBytes
    this.#hotBytes = Math.round(memoryMiB * mebibyte * hotShare)
    this.#stopListening = group.listen([this.#hotBytes, this.#triggerBytes], () => this.look())
    try {
      this.#kernelKills = group.kernelKills()
      this.#limit.set()
      group.setKernelKills(false)
    } catch (error) {
      this.close()
      throw error
    }
    this.look()
  }

  /** True if a death of the sandbox now counts as out of memory. */
  get hasRunOut(): boolean {
    if (performance.now() - this.#shortAtMs < deathAfterMs) return true
    try {
      return this.#parts.group.kernelKills() > this.#kernelKills
    } catch {
      return false
    }
  }

  /** Resolves when `onEnded` was called for all processes that are being killed; undefined if there are none. */
  get ending(): Promise<void> | undefined {
    return this.#ending
  }

  /** True if the sandbox is short of memory, or was within the last second. */
  get isShort(): boolean {
    return performance.now() - this.#shortAtMs < shortForMs
  }

  get memoryMiB(): number {
    return this.#parts.memoryMiB
  }

  usedBytes(): number {
    return this.#parts.group.usedBytes()
  }

  get isReducingMemory(): boolean {
    return this.#reduction !== undefined && performance.now() < this.#reduction.untilMs
  }

  reduceMemoryTo(toBytes: number): void {
    this.#reduction = { toBytes, untilMs: performance.now() + reductionMs }
    this.look()
  }

  end(): void {
    this.#shortAtMs = performance.now()
    this.#parts.endSandbox()
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  set isFrozen(isFrozen: boolean) {
    this.#isFrozen = isFrozen
    this.#stuckSinceMs = undefined
    if (!isFrozen) this.look()
  }

  /**
   * Checks the group and acts if necessary. Returns true if most of the memory is used, so it must be checked often.
   */
  look(): boolean {
    if (this.#isClosed || this.#isFrozen) return false
    try {
      const reading = this.#parts.group.read()
      const { chargedBytes, isStuck } = reading
      if (this.#acting) {
        // The sentry that is being called may itself be waiting for memory.
        this.#limit.raiseIfTight(reading)
        return true
      }
      if (!isStuck) this.#stuckSinceMs = undefined
      const isCalm = !isStuck && !this.isReducingMemory
      if (isCalm && chargedBytes < this.#hotBytes) return false
      if (!isStuck && !this.#usesTooMuch()) return true
      this.#acting = this.#act(isStuck).finally(() => {
        this.#acting = undefined
      })
      return true
    } catch {
      // The control group is gone, and so is the sandbox.
      return false
    }
  }

  /**
   * Call it when the sandbox ends. Enables the kernel's OOM killer again, so that nothing in the group waits for
   * memory.
   */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopListening()
    ignoring(() => this.#parts.group.setKernelKills(true))
  }

  async #act(wasStuck: boolean): Promise<void> {
    const { group } = this.#parts
    const relief = this.#continueRelief()
    let isFirstRoundStuck = wasStuck
    try {
      while (!this.#isClosed && !this.#isFrozen) {
        const now = performance.now()
        const { chargedBytes, isStuck: isStuckNow } = group.read()
        const isStuck = isStuckNow || isFirstRoundStuck
        isFirstRoundStuck = false
        this.#limit.raiseIfTight({ isStuck, chargedBytes })
        this.#letKernelKillIfStuck(isStuck, now)
        const isShort = isStuck || this.#usesTooMuch()
        if (!isShort && !relief.isUnderWay) break
        this.#shortAtMs = now
        const isSoon = await relief.round(await this.#parts.sentry(), { isShort, isStuck })
        await delay(Math.max(isSoon ? roundMs : idleRoundMs, relief.pauseMs))
      }
      this.#relief = undefined
    } catch {
      // The sentry is silent or gone. The next look() tries again.
      this.#relief = { of: relief, failedAtMs: performance.now() }
    } finally {
      this.#restoreLimit()
    }
  }

  #usesTooMuch(): boolean {
    const usedBytes = this.#parts.group.usedBytes()
    if (usedBytes > this.#triggerBytes) return true
    if (this.#reduction && (!this.isReducingMemory || usedBytes <= this.#reduction.toBytes))
      this.#reduction = undefined
    return this.#reduction !== undefined
  }

  #continueRelief(): Relief {
    const kept = this.#relief
    if (kept && performance.now() - kept.failedAtMs < reliefKeptMs) return kept.of
    const { group, memoryMiB, onEnded } = this.#parts
    return new Relief({
      sizes: this.#sizes,
      usedBytes: () => group.usedBytes(),
      memoryBytes: memoryMiB * mebibyte,
      targetBytes: () =>
        Math.min(memoryMiB * mebibyte * enoughShare, this.#reduction?.toBytes ?? Number.POSITIVE_INFINITY),
      onEnded,
      onEnding: (batch) => {
        const ending = batch.finally(() => {
          if (this.#ending === ending) this.#ending = undefined
        })
        this.#ending = ending
      },
      isStopped: () => this.#isClosed || this.#isFrozen,
    })
  }

  #letKernelKillIfStuck(isStuck: boolean, now: number): void {
    this.#stuckSinceMs = isStuck ? (this.#stuckSinceMs ?? now) : undefined
    if (this.#stuckSinceMs !== undefined && now - this.#stuckSinceMs > stuckMaxMs)
      this.#parts.group.setKernelKills(true)
  }

  #restoreLimit(): void {
    if (this.#isClosed || !this.#limit.restore()) return
    ignoring(() => this.#parts.group.setKernelKills(false))
  }
}

const ignoring = (act: () => void): void => {
  try {
    act()
  } catch {}
}
