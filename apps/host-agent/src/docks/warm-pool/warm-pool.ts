/**
 * The warm pool: sandboxes booted and frozen in advance, under the ids that their Docks will have, so that creating a Dock
 * only needs a thaw. The pool uses spare resources: it fills while no Dock boots, and shrinks when memory or disk space is
 * scarce. The record of each sandbox says that it is unclaimed, so the next agent continues with it.
 */
import { type Clock, type Emitter, type Logger, newUuid, readableName } from '@dock/foundation'
import type { WarmSandbox } from '@dock/host-protocol'
import type { DiskPool, PoolRoom } from '../../disks/pool.ts'
import type { BootQueue } from '../../sandboxes/boot-queue.ts'
import type { DockEvents } from '../../sandboxes/dock-events.ts'
import type { WarmPoolLoss } from '../../sandboxes/dock-state.ts'
import type { WarmPoolKind } from '../boot-for-warm-pool.ts'
import type { Docks } from '../docks.ts'
import { Pause } from './pause.ts'

const bootsAtOnceMax = 2
const tickMs = 1_000
const pauseMinMs = 2_000
const pauseMaxMs = 60_000
/**
 * The pool pauses so that a Dock's first commands have the machine to themselves: after every boot, and after a claim if
 * more than the share `enough` of the pool is still ready.
 */
const pauseAfterBootMs = 100
const pauseAfterClaimMs = 400
const enough = 0.5
/** Shares of the machine's memory that must be available to boot another sandbox, and to keep the present ones. */
const roomyMemory = 0.25
const scarceMemory = 0.15
/** How many sandboxes of the second kind are kept, and which share of the pool at most. */
const secondMax = 4
const secondShare = 0.25

export type WarmPoolParts = {
  docks: Docks
  /** Maximum number of sandboxes. */
  size: number
  bootQueue: Pick<BootQueue, 'isCalm' | 'onCalm'>
  events: DockEvents
  losses: Emitter<WarmPoolLoss>
  disks: Pick<DiskPool, 'isFromCurrentImage'>
  /** Emits after this host's images have changed. */
  imageChanges: Emitter<void>
  room: () => PoolRoom
  /** Returns the share of the machine's memory that is available. */
  memoryAvailable: () => number
  clock: Clock
  logger: Logger
}

const isOfKind = (one: WarmPoolKind, kind: WarmPoolKind): boolean =>
  one.image === kind.image &&
  one.cpus === kind.cpus &&
  one.memoryMiB === kind.memoryMiB &&
  one.diskGiB === kind.diskGiB

export class WarmPool {
  readonly #parts: WarmPoolParts
  readonly #ready = new Map<string, WarmSandbox>()
  /**
   * What to keep, and how many of it. Undefined until the control plane says so. The pool is left unchanged until then.
   */
  #wanted: readonly { kind: WarmPoolKind; count: number }[] | undefined
  readonly #pauseAfterBoot: Pause
  readonly #pauseAfterClaim: Pause
  readonly #pauseAfterFailure: Pause
  #failurePauseMs = 0
  /** Since the last boot for the pool. Pausing only once lets the pool progress between Docks that boot in quick succession. */
  #hasPaused = false
  /** The kinds of the sandboxes that are being booted. */
  readonly #making: WarmPoolKind[] = []
  #isRunning = false

  constructor(parts: WarmPoolParts) {
    this.#parts = parts
    const pause = () => new Pause(parts.clock, () => this.#fill())
    this.#pauseAfterBoot = pause()
    this.#pauseAfterClaim = pause()
    this.#pauseAfterFailure = pause()
    parts.losses.listen(({ dockId, isClaimed }) => {
      if (!this.#ready.delete(dockId)) return
      if (isClaimed) this.#pauseAfterClaim.begin(pauseAfterClaimMs)
      else parts.events.emit({ type: 'pool.gone', dockId })
      this.#fill()
    })
    parts.bootQueue.onCalm(() => {
      if (!this.#hasPaused) this.#pauseAfterBoot.begin(pauseAfterBootMs)
      this.#hasPaused = true
      this.#fill()
    })
  }

  /** Returns the sandboxes that can be claimed now. */
  reports(): WarmSandbox[] {
    return [...this.#ready.values()]
  }

  /** Takes over the pool of an earlier agent and starts to maintain it. Returns a function that stops this. */
  start(): () => void {
    const { docks, clock } = this.#parts
    for (const report of docks.listWarmSandboxes()) this.#ready.set(report.dockId, report)
    this.#isRunning = true
    let cancel = () => {}
    const again = (): void => {
      this.#shrinkIfScarce()
      this.#fill()
      cancel = clock.after(tickMs, again)
    }
    again()
    const discardOld = (): void => void this.#discardOld()
    const endListening = this.#parts.imageChanges.listen(discardOld)
    discardOld()
    return () => {
      this.#isRunning = false
      endListening()
      cancel()
    }
  }

  /**
   * Sets the kind of sandbox that the pool keeps, and a second kind of which it keeps a few. The pool discards all other
   * sandboxes.
   */
  keep(kind: WarmPoolKind | null, second?: WarmPoolKind): void {
    const { size } = this.#parts
    const few = second ? Math.min(secondMax, Math.floor(size * secondShare)) : 0
    this.#wanted = [
      ...(kind ? [{ kind, count: size - few }] : []),
      ...(second ? [{ kind: second, count: few }] : []),
    ]
    for (const { count, ready } of this.#byKind())
      for (const { dockId } of ready.slice(count)) this.#discard(dockId)
    for (const report of this.reports()) if (!this.#isWanted(report)) this.#discard(report.dockId)
    this.#fill()
  }

  /** Returns what is wanted of each kind, and what there is. */
  #byKind(): { kind: WarmPoolKind; count: number; ready: WarmSandbox[] }[] {
    return (this.#wanted ?? []).map(({ kind, count }) => ({
      kind,
      count,
      ready: this.reports().filter((report) => isOfKind(report, kind)),
    }))
  }

  #isWanted(report: WarmSandbox): boolean {
    return (this.#wanted ?? []).some(({ kind, count }) => count > 0 && isOfKind(report, kind))
  }

  /** Returns the kind to boot next, or null if none is missing. */
  #missing(): WarmPoolKind | null {
    const lacks = this.#byKind().filter(
      ({ kind, count, ready }) =>
        ready.length + this.#making.filter((each) => isOfKind(each, kind)).length < count,
    )
    return lacks[0]?.kind ?? null
  }

  /** Discards sandboxes that were booted from an older version of their image. Never rejects. */
  async #discardOld(): Promise<void> {
    for (const { dockId, image } of this.reports())
      if (!(await this.#isCurrent(dockId, image)) && this.#ready.has(dockId)) this.#discard(dockId)
    this.#fill()
  }

  #isCurrent(dockId: string, image: string): Promise<boolean> {
    return this.#parts.disks.isFromCurrentImage(dockId, image).catch(() => false)
  }

  #fill(): void {
    while (this.#mayBoot()) {
      const kind = this.#missing()
      if (!kind) return
      this.#hasPaused = false
      this.#making.push(kind)
      void this.#bootOne(kind).finally(() => {
        this.#making.splice(this.#making.indexOf(kind), 1)
        this.#fill()
      })
    }
  }

  #mayBoot(): boolean {
    const { size, bootQueue, room, memoryAvailable } = this.#parts
    if (!this.#isRunning || !bootQueue.isCalm || this.#making.length >= bootsAtOnceMax) return false
    const isEnough = this.#ready.size > size * enough
    if (this.#pauseAfterFailure.isOn || this.#pauseAfterBoot.isOn) return false
    if (this.#pauseAfterClaim.isOn && isEnough) return false
    if (memoryAvailable() < roomyMemory) return false
    const { freeBytes, reserveBytes } = room()
    return freeBytes >= 3 * reserveBytes
  }

  /** Never rejects. After a failure the pool pauses, longer each time. */
  async #bootOne(kind: WarmPoolKind): Promise<void> {
    const { docks, events, logger } = this.#parts
    const dockId = newUuid()
    try {
      await docks.bootForWarmPool(dockId, kind, readableName())
    } catch (error) {
      if (this.#wanted?.some((each, index) => index > 0 && isOfKind(kind, each.kind))) {
        // The other kind must not wait for this one. The next message of the control plane asks for it again.
        this.#wanted = this.#wanted.slice(0, 1)
        logger.warn({ err: error, image: kind.image }, 'could not boot a sandbox of the second kind')
        return
      }
      this.#failurePauseMs = Math.min(pauseMaxMs, Math.max(pauseMinMs, this.#failurePauseMs * 2))
      this.#pauseAfterFailure.begin(this.#failurePauseMs)
      logger.warn({ err: error, pauseMs: this.#failurePauseMs }, 'could not boot a sandbox for the warm pool')
      return
    }
    this.#failurePauseMs = 0
    const report = docks.listWarmSandboxes().find((each) => each.dockId === dockId)
    if (!report) return
    this.#ready.set(dockId, report)
    events.emit({ type: 'pool.ready', dock: report })
    // The kind and the image may have changed during the boot.
    if (!this.#isWanted(report)) return this.#discard(dockId)
    if (!(await this.#isCurrent(dockId, kind.image)) && this.#ready.has(dockId)) this.#discard(dockId)
  }

  /** Discards one sandbox at a time: the next check shows how much that has freed. */
  #shrinkIfScarce(): void {
    const { size, memoryAvailable, room, logger } = this.#parts
    const { freeBytes, reserveBytes } = room()
    const isScarce = memoryAvailable() < scarceMemory || freeBytes < 2 * reserveBytes
    const oldest = this.#ready.keys().next().value
    if (oldest === undefined || !(isScarce || this.#ready.size > size)) return
    logger.info(
      { dockId: oldest, left: this.#ready.size - 1 },
      'discarding a sandbox of the warm pool to free resources',
    )
    this.#discard(oldest)
  }

  #discard(dockId: string): void {
    const { docks, events, logger } = this.#parts
    this.#ready.delete(dockId)
    events.emit({ type: 'pool.gone', dockId })
    docks
      .discardWarmSandbox(dockId)
      .catch((error: unknown) =>
        logger.error({ err: error, dockId }, 'could not discard a sandbox of the warm pool'),
      )
  }
}
