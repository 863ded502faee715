/**
 * The warm pool: sandboxes of the kind that creates ask for, booted and frozen under the ids that their Docks will have,
 * so that a create is a thaw. It takes what nobody else wants: it fills while no Dock boots, and is emptied when memory
 * or the pool of disks gets scarce. Which sandboxes are in it stands in their own records, so that a later agent goes on.
 */
import { type Clock, type Logger, newUuid, spokenName } from '@dock/foundation'
import type { PoolReport } from '@dock/host-protocol'
import type { BootTurns } from '../docks/boot-turns.ts'
import type { DockEvents } from '../docks/dock-events.ts'
import type { PoolLoss } from '../docks/dock-state.ts'
import type { Docks } from '../docks/docks.ts'
import type { Emitter } from '../docks/emitter.ts'
import type { PoolKind } from '../docks/pool-boot.ts'
import type { PoolRoom } from '../docks/seams.ts'
import { Rest } from './rest.ts'

const bootsAtOnceMax = 2
const tickMs = 1_000
const pauseMinMs = 2_000
const pauseMaxMs = 60_000
/**
 * A Dock's first commands have the machine to themselves: those after a claim as long as enough sandboxes wait for the
 * creates that come next, those after a boot however few do.
 */
const restAfterBootMs = 100
const restAfterClaimMs = 400
const enough = 0.5
/** Shares of the machine's memory that must be available: to make another sandbox, and to keep those there are. */
const roomyMemory = 0.25
const scarceMemory = 0.15

export type WarmPoolParts = {
  docks: Docks
  /** How many sandboxes are kept at most. */
  size: number
  turns: Pick<BootTurns, 'isCalm' | 'onCalm'>
  events: DockEvents
  losses: Emitter<PoolLoss>
  room: () => PoolRoom
  /** Share of the machine's memory that is available. */
  memoryAvailable: () => number
  clock: Clock
  logger: Logger
}

const isOf = (report: PoolReport, kind: PoolKind): boolean =>
  report.image === kind.image &&
  report.cpus === kind.cpus &&
  report.memoryMiB === kind.memoryMiB &&
  report.diskGiB === kind.diskGiB

export class WarmPool {
  readonly #parts: WarmPoolParts
  readonly #ready = new Map<string, PoolReport>()
  /** Undefined until the control plane has said what to keep: what is there stays until then. */
  #kind: PoolKind | null | undefined
  readonly #restAfterBoot: Rest
  readonly #restAfterClaim: Rest
  readonly #pause: Rest
  #pauseMs = 0
  /** Since the last sandbox was begun: it rests once, so that Docks that boot one right behind the other leave it a turn. */
  #hasRested = false
  #making = 0
  #isRunning = false

  constructor(parts: WarmPoolParts) {
    this.#parts = parts
    const rest = () => new Rest(parts.clock, () => this.#fill())
    this.#restAfterBoot = rest()
    this.#restAfterClaim = rest()
    this.#pause = rest()
    parts.losses.listen(({ dockId, isClaimed }) => {
      if (!this.#ready.delete(dockId)) return
      if (isClaimed) this.#restAfterClaim.begin(restAfterClaimMs)
      else parts.events.emit({ type: 'pool.gone', dockId })
      this.#fill()
    })
    parts.turns.onCalm(() => {
      if (!this.#hasRested) this.#restAfterBoot.begin(restAfterBootMs)
      this.#hasRested = true
      this.#fill()
    })
  }

  /** What can be claimed now. */
  reports(): PoolReport[] {
    return [...this.#ready.values()]
  }

  /** Takes up what an earlier agent left, and looks after the pool from now on. The answer ends that. */
  start(): () => void {
    const { docks, clock } = this.#parts
    for (const report of docks.pooled()) this.#ready.set(report.dockId, report)
    this.#isRunning = true
    let cancel = () => {}
    const again = (): void => {
      this.#yieldIfScarce()
      this.#fill()
      cancel = clock.after(tickMs, again)
    }
    again()
    return () => {
      this.#isRunning = false
      cancel()
    }
  }

  /** Says what to keep from now on. What is of another kind goes. */
  keep(kind: PoolKind | null): void {
    this.#kind = kind
    for (const report of this.#ready.values()) {
      if (!kind || !isOf(report, kind)) this.#discard(report.dockId)
    }
    this.#fill()
  }

  #fill(): void {
    while (this.#mayMake()) {
      this.#hasRested = false
      this.#making += 1
      void this.#make().finally(() => {
        this.#making -= 1
        this.#fill()
      })
    }
  }

  #mayMake(): boolean {
    const { size, turns, room, memoryAvailable } = this.#parts
    if (!this.#isRunning || !this.#kind || !turns.isCalm) return false
    if (this.#making >= bootsAtOnceMax || this.#ready.size + this.#making >= size) return false
    const isEnough = this.#ready.size > size * enough
    if (this.#pause.isOn || this.#restAfterBoot.isOn || (this.#restAfterClaim.isOn && isEnough)) return false
    if (memoryAvailable() < roomyMemory) return false
    const { freeBytes, reserveBytes } = room()
    return freeBytes >= 3 * reserveBytes
  }

  /** Never rejects: after a failure the next one waits, longer each time. */
  async #make(): Promise<void> {
    const { docks, events, logger } = this.#parts
    const kind = this.#kind
    if (!kind) return
    const dockId = newUuid()
    try {
      await docks.bootForPool(dockId, kind, spokenName())
    } catch (error) {
      this.#pauseMs = Math.min(pauseMaxMs, Math.max(pauseMinMs, this.#pauseMs * 2))
      this.#pause.begin(this.#pauseMs)
      logger.warn({ err: error, pauseMs: this.#pauseMs }, 'no sandbox for the warm pool')
      return
    }
    this.#pauseMs = 0
    const report = docks.pooled().find((each) => each.dockId === dockId)
    if (!report) return
    this.#ready.set(dockId, report)
    events.emit({ type: 'pool.ready', dock: report })
    // Told otherwise while it was made.
    if (!this.#kind || !isOf(report, this.#kind)) this.#discard(dockId)
  }

  /** One at a time: what is freed shows in the next look. */
  #yieldIfScarce(): void {
    const { size, memoryAvailable, room, logger } = this.#parts
    const { freeBytes, reserveBytes } = room()
    const isScarce = memoryAvailable() < scarceMemory || freeBytes < 2 * reserveBytes
    const oldest = this.#ready.keys().next().value
    if (oldest === undefined || !(isScarce || this.#ready.size > size)) return
    logger.info({ dockId: oldest, left: this.#ready.size - 1 }, 'the warm pool gives a sandbox up')
    this.#discard(oldest)
  }

  #discard(dockId: string): void {
    const { docks, events, logger } = this.#parts
    this.#ready.delete(dockId)
    events.emit({ type: 'pool.gone', dockId })
    docks
      .discardPooled(dockId)
      .catch((error: unknown) => logger.error({ err: error, dockId }, 'a sandbox of the warm pool stays'))
  }
}
