/**
 * Keeps one sandbox alive that runs out of memory. Its group may use more than the Dock was given, by a headroom for
 * the sentry; when the Dock's own share is used up, the guard ends the largest process inside, before the kernel would
 * have to end the sandbox (decision 060).
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { MemoryGroup } from './memory-group.ts'
import { ProcessSizes } from './process-sizes.ts'
import { Relief, type ReliefParts, type SandboxMemory } from './relief.ts'
import type { Sharer } from './shared-memory.ts'

const mebibyte = 2 ** 20
/** What a sandbox's group may use beyond the Dock's own memory. */
export const headroomMiB = 128
/** The guard acts when so much of the Dock's memory is left. */
const marginBytes = 6 * mebibyte
/** While the group is stuck at its limit, its sentry may be stuck as well: it is given this much more, so many times. */
const raiseBytes = 64 * mebibyte
const raisesMax = 4
/**
 * The same when no more than this is left: what the kernel takes for itself does not wait. A thread or a process that the
 * sentry then cannot make is the end of it.
 */
const tightBytes = 48 * mebibyte
const enoughShare = 0.92
const hotShare = 0.8
const roundMs = 5
/** With nothing left to end, the next round can wait. */
const idleRoundMs = 50
/** A group that stays stuck for so long is left to the kernel: a sandbox that hangs is worse than one that boots again. */
const stuckMaxMs = 10_000
/** A death so soon after the last shortage was for want of memory. */
const deathAfterMs = 15_000
/** What a sandbox does not do so soon after a shortage, it does not do for want of memory. */
const shortForMs = 1_000

/** Who has not given way after so long has nothing more to end. */
const givesWayMs = 2_000

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
  readonly #limitBytes: number
  readonly #triggerBytes: number
  readonly #hotBytes: number
  readonly #sizes = new ProcessSizes()
  #stopListening = (): void => undefined
  #acting: Promise<void> | undefined
  #ending: Promise<void> | undefined
  #isFrozen = false
  #isClosed = false
  #shortAtMs = Number.NEGATIVE_INFINITY
  #raises = 0
  #stuckSinceMs: number | undefined
  /** What it may use until then, because all sandboxes together use too much. */
  #wayGiven: { toBytes: number; untilMs: number } | undefined

  /** Takes the group over: raises its limit by the headroom and keeps the kernel from killing. Throws when that fails. */
  constructor(parts: MemoryGuardParts) {
    this.#parts = parts
    const { group, memoryMiB } = parts
    this.#limitBytes = (memoryMiB + headroomMiB) * mebibyte
    this.#triggerBytes = memoryMiB * mebibyte - marginBytes
    this.#hotBytes = Math.round(memoryMiB * mebibyte * hotShare)
    this.#stopListening = group.listen([this.#hotBytes, this.#triggerBytes], () => this.look())
    try {
      group.setLimit(this.#limitBytes)
      group.setKernelKills(false)
    } catch (error) {
      this.close()
      throw error
    }
    this.look()
  }

  /** Whether the sandbox died, if it did, for want of memory. */
  get ranOut(): boolean {
    if (performance.now() - this.#shortAtMs < deathAfterMs) return true
    try {
      return this.#parts.group.kernelKills() > 0
    } catch {
      return false
    }
  }

  /** Resolves when it is told of all that are being ended at present; undefined when nothing is. */
  get ending(): Promise<void> | undefined {
    return this.#ending
  }

  /** Whether the sandbox is short of memory now, or was a moment ago. */
  get isShort(): boolean {
    return performance.now() - this.#shortAtMs < shortForMs
  }

  get memoryMiB(): number {
    return this.#parts.memoryMiB
  }

  usedBytes(): number {
    return this.#parts.group.usedBytes()
  }

  get isGivingWay(): boolean {
    return this.#wayGiven !== undefined && performance.now() < this.#wayGiven.untilMs
  }

  giveWay(toBytes: number): void {
    this.#wayGiven = { toBytes, untilMs: performance.now() + givesWayMs }
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
    if (!isFrozen) this.look()
  }

  /** Looks once, and acts if it must. The result tells whether to look again soon, because most of the memory is used. */
  look(): boolean {
    if (this.#isClosed || this.#isFrozen) return false
    try {
      const { chargedBytes, isStuck } = this.#parts.group.read()
      if (this.#acting) {
        // The sentry that is being asked may itself wait for memory.
        this.#giveRoom(isStuck, chargedBytes)
        return true
      }
      const isCalm = !isStuck && !this.isGivingWay
      if (isCalm && chargedBytes < this.#hotBytes) return false
      if (!isStuck && !this.#usesTooMuch()) return true
      this.#acting = this.#act(isStuck).finally(() => {
        this.#acting = undefined
      })
      return true
    } catch {
      // The group is gone: so is the sandbox.
      return false
    }
  }

  /** The sandbox ends: the kernel may kill in it again, so that nothing in it waits for memory. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopListening()
    ignoring(() => this.#parts.group.setKernelKills(true))
  }

  async #act(wasStuck: boolean): Promise<void> {
    const { group } = this.#parts
    const relief = this.#relief()
    let isFirstRoundStuck = wasStuck
    try {
      while (!this.#isClosed && !this.#isFrozen) {
        const now = performance.now()
        const { chargedBytes, isStuck: isStuckNow } = group.read()
        const isStuck = isStuckNow || isFirstRoundStuck
        isFirstRoundStuck = false
        this.#giveRoom(isStuck, chargedBytes)
        this.#leaveWhatStaysStuck(isStuck, now)
        const isShort = isStuck || this.#usesTooMuch()
        if (!isShort && !relief.isUnderWay) break
        this.#shortAtMs = now
        const isSoon = await relief.round(await this.#parts.sentry(), { isShort, isStuck })
        await delay(Math.max(isSoon ? roundMs : idleRoundMs, relief.pauseMs))
      }
    } catch {
      // The sentry is silent or gone: the next look tries again.
    } finally {
      this.#lower()
    }
  }

  #usesTooMuch(): boolean {
    const usedBytes = this.#parts.group.usedBytes()
    if (usedBytes > this.#triggerBytes) return true
    if (this.#wayGiven && (!this.isGivingWay || usedBytes <= this.#wayGiven.toBytes))
      this.#wayGiven = undefined
    return this.#wayGiven !== undefined
  }

  #relief(): Relief {
    const { group, memoryMiB, onEnded } = this.#parts
    return new Relief({
      sizes: this.#sizes,
      usedBytes: () => group.usedBytes(),
      targetBytes: () =>
        Math.min(memoryMiB * mebibyte * enoughShare, this.#wayGiven?.toBytes ?? Number.POSITIVE_INFINITY),
      onEnded,
      onEnding: (batch) => {
        const ending = batch.finally(() => {
          if (this.#ending === ending) this.#ending = undefined
        })
        this.#ending = ending
      },
    })
  }

  #leaveWhatStaysStuck(isStuck: boolean, now: number): void {
    this.#stuckSinceMs = isStuck ? (this.#stuckSinceMs ?? now) : undefined
    if (this.#stuckSinceMs !== undefined && now - this.#stuckSinceMs > stuckMaxMs)
      this.#parts.group.setKernelKills(true)
  }

  #giveRoom(isStuck: boolean, chargedBytes: number): void {
    const limitBytes = this.#limitBytes + this.#raises * raiseBytes
    if (!isStuck && chargedBytes < limitBytes - tightBytes) return
    if (this.#raises >= raisesMax) return
    this.#raises += 1
    ignoring(() => this.#parts.group.setLimit(this.#limitBytes + this.#raises * raiseBytes))
  }

  #lower(): void {
    if (this.#raises === 0 || this.#isClosed) return
    try {
      this.#parts.group.setLimit(this.#limitBytes)
      this.#parts.group.setKernelKills(false)
      this.#raises = 0
    } catch {
      // More than that is in use still; the next shortage begins with what it has.
    }
  }
}

const ignoring = (act: () => void): void => {
  try {
    act()
  } catch {}
}
