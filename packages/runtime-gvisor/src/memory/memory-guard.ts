/**
 * Keeps one sandbox alive that runs out of memory. Its group may use more than the Dock was given, by a headroom for
 * the sentry; when the Dock's own share is used up, the guard ends the largest process inside, before the kernel would
 * have to end the sandbox (decision 060).
 */
import { setTimeout as delay } from 'node:timers/promises'
import { SentryRefused } from '../sentry-connection.ts'
import type { MemoryGroup } from './memory-group.ts'
import { forkBomb, type ListedProcess, type MemoryProcess, Victims } from './victims.ts'

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
const reduceEveryMs = 100
/** For memory that the processes do not explain, one victim after so long. */
const unexplainedPauseMs = 150
/** A group that stays stuck for so long is left to the kernel: a sandbox that hangs is worse than one that boots again. */
const stuckMaxMs = 10_000
/** A death so soon after the last shortage was for want of memory. */
const deathAfterMs = 15_000
/** What a sandbox does not do so soon after a shortage, it does not do for want of memory. */
const shortForMs = 1_000

const signalsAtOnce = 3

export type SandboxMemory = {
  memory(): Promise<MemoryProcess[]>
  /** Quicker, and safe at any time: without what each of them uses. */
  processes(): Promise<ListedProcess[]>
  signal(pid: number, signal: number): Promise<void>
  reduceMemory(): Promise<void>
}

export type MemoryGuardParts = {
  group: MemoryGroup
  memoryMiB: number
  sentry(): Promise<SandboxMemory>
  /** Called for each process that was ended, with the numbers of its ancestors inside, the process itself first. */
  onEnded(victim: MemoryProcess, lineage: readonly number[]): void
}

export class MemoryGuard {
  readonly #parts: MemoryGuardParts
  readonly #limitBytes: number
  readonly #triggerBytes: number
  readonly #hotBytes: number
  #stopListening = (): void => undefined
  #acting: Promise<void> | undefined
  #ending: Promise<void> | undefined
  #isFrozen = false
  #isClosed = false
  #shortAtMs = Number.NEGATIVE_INFINITY
  #raises = 0
  #stuckSinceMs: number | undefined

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
      if (!isStuck && chargedBytes < this.#hotBytes) return false
      if (!isStuck && this.#parts.group.usedBytes() <= this.#triggerBytes) return true
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
    const victims = new Victims()
    const unexplained = { sinceMs: Number.NaN, reducedAtMs: Number.NEGATIVE_INFINITY }
    let isFirstRoundStuck = wasStuck
    let bombName: string | undefined
    try {
      while (!this.#isClosed && !this.#isFrozen) {
        const now = performance.now()
        const { chargedBytes, isStuck: isStuckNow } = group.read()
        const isStuck = isStuckNow || isFirstRoundStuck
        isFirstRoundStuck = false
        this.#giveRoom(isStuck, chargedBytes)
        this.#leaveWhatStaysStuck(isStuck, now)
        const isShort = isStuck || group.usedBytes() > this.#triggerBytes
        if (!isShort && !victims.arePending && bombName === undefined) break
        this.#shortAtMs = now
        const sentry = await this.#parts.sentry()
        const listed = await sentry.processes()
        victims.see(listed, performance.now())
        const bomb = isShort || bombName !== undefined ? forkBomb(victims.left(listed), bombName) : []
        bombName = bomb[0]?.name
        const isBombed = bombName !== undefined
        if (isBombed) await this.#end(sentry, bomb, listed, victims)
        const hasChosen = isShort && !isBombed && (await this.#relieve(sentry, listed, victims, unexplained))
        await delay(hasChosen || isBombed || victims.arePending ? roundMs : idleRoundMs)
      }
    } catch {
      // The sentry is silent or gone: the next look tries again.
    } finally {
      this.#lower()
    }
  }

  /** One round: ends what must be ended, and returns whether anything was. */
  async #relieve(
    sentry: SandboxMemory,
    listed: readonly ListedProcess[],
    victims: Victims,
    unexplained: { sinceMs: number; reducedAtMs: number },
  ): Promise<boolean> {
    // The sentry panics when it is asked what a process uses that is just ending (release 20240729).
    if (victims.arePending) return false
    // Arguments can make that list too long to take: then nothing is known of sizes, and the newest goes first.
    const processes = await sentry.memory().catch(() => listed.map((each) => ({ ...each, rssBytes: 0 })))
    const targetBytes = this.#parts.memoryMiB * mebibyte * enoughShare
    const usedBytes = this.#parts.group.usedBytes()
    const chosen = victims.choose(processes, { usedBytes, targetBytes })
    await this.#end(sentry, chosen.victims, processes, victims)
    const now = performance.now()
    if (!chosen.unexplained) unexplained.sinceMs = Number.NaN
    else if (!(now - unexplained.sinceMs < unexplainedPauseMs)) {
      if (!Number.isNaN(unexplained.sinceMs)) victims.chooseAgain()
      unexplained.sinceMs = now
    }
    if (chosen.unexplained && now - unexplained.reducedAtMs > reduceEveryMs) {
      unexplained.reducedAtMs = now
      await sentry.reduceMemory()
    }
    return chosen.victims.length > 0
  }

  #leaveWhatStaysStuck(isStuck: boolean, now: number): void {
    this.#stuckSinceMs = isStuck ? (this.#stuckSinceMs ?? now) : undefined
    if (this.#stuckSinceMs !== undefined && now - this.#stuckSinceMs > stuckMaxMs)
      this.#parts.group.setKernelKills(true)
  }

  async #end(
    sentry: SandboxMemory,
    chosen: readonly MemoryProcess[],
    processes: readonly ListedProcess[],
    victims: Victims,
  ): Promise<void> {
    const parents = new Map(processes.map(({ pid, parentPid }) => [pid, parentPid]))
    const left = [...chosen]
    const endNext = async (): Promise<void> => {
      const victim = left.shift()
      if (!victim) return
      victims.ended(victim, performance.now())
      // It may have ended by itself. A sentry that does not say so has ended it.
      const wasThere = await sentry.signal(victim.pid, 9).then(
        () => true,
        (error: unknown) => !(error instanceof SentryRefused),
      )
      if (!wasThere) return endNext()
      const lineage: number[] = []
      for (let pid: number | undefined = victim.pid; pid && !lineage.includes(pid); pid = parents.get(pid))
        lineage.push(pid)
      this.#parts.onEnded(victim, lineage)
      return endNext()
    }
    const ending = Promise.all(Array.from({ length: signalsAtOnce }, endNext)).then(() => undefined)
    this.#ending = ending
    try {
      await ending
    } finally {
      this.#ending = undefined
    }
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
