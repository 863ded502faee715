/**
 * State that the commands of one Dock share: its record and its live sandbox. Invariant: a Dock never has two live
 * sandboxes. Only {@link DockState.adopt} sets the live sandbox, and it throws if there already is one.
 */
import type { Clock, Emitter, Logger } from '@dock/foundation'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import type { DiskPool } from '../disks/pool.ts'
import type { GitDoors } from '../network/git-door/git-doors.ts'
import type { Networks } from '../network/networks.ts'
import { AgentRefusal } from './agent-refusal.ts'
import type { BlankPool } from './blank-pool.ts'
import type { BootQueue } from './boot-queue.ts'
import type { CaptureNotes } from './capture-notes.ts'
import type { DockEvents } from './dock-events.ts'
import type { DockRecord, DockRecords, UnreadableRecord } from './dock-record.ts'
import type { Freezer } from './freezer.ts'
import type { KeptProcesses } from './kept-processes/kept-process.ts'
import type { KeptRecords } from './kept-processes/kept-record.ts'
import type { ProcessKeeper } from './kept-processes/process-keeper.ts'
import { LoopbackRelay } from './ports/loopback-relay.ts'
import type { OpenProcesses } from './processes/open-processes.ts'
import type { Unpacking } from './unpack-in-dock.ts'

/** A sandbox left the warm pool because it was claimed, or because it ended. */
export type WarmPoolLoss = { dockId: string; isClaimed: boolean }

/** What all Docks of a host share. */
export type DockParts = {
  driver: RuntimeDriver
  disks: DiskPool
  networks: Networks
  gitDoors: GitDoors
  records: DockRecords
  captureNotes: CaptureNotes
  keeper: ProcessKeeper
  keptRecords: KeptRecords
  events: DockEvents
  warmPoolLosses: Emitter<WarmPoolLoss>
  freezer: Freezer
  bootQueue: BootQueue
  blankPool: Pick<BlankPool, 'take' | 'remove'>
  /** Docks and warm sandboxes that are alive: far fewer than the Docks that this host has a record of. */
  live: Set<DockState>
  /** The kernel's present boot id. */
  bootId: string
  clock: Clock
  logger: Logger
}

/** A sandbox in use. It stays awake until `release` is called. */
export type SandboxUse = { sandbox: SandboxHandle; release: () => void }

/** A Dock with a live sandbox. */
export type RunningDock = {
  dockId: string
  generation: number
  memoryMiB: number
  sandbox: SandboxHandle
}

/** A sandbox that is not in use: since when (epoch ms), and whether it was used since the idle timer was reset. */
export type IdleSandbox = { sandbox: SandboxHandle; since: number; wasUsed: boolean }

export class DockState {
  readonly dockId: string
  readonly parts: DockParts
  readonly logger: Logger
  /** Number of tenant commands that are running. */
  execsInFlight = 0
  readonly processes: OpenProcesses = new Map()
  readonly kept: KeptProcesses = new Map()
  /** Program in a warm sandbox that waits to unpack the Environment of the Dock that claims it. */
  unpacking: Unpacking | null = null
  readonly relay: LoopbackRelay
  #record: DockRecord | null
  #unreadable: UnreadableRecord | null
  #live: SandboxHandle | null = null
  #uses = 0
  #wasUsed = false
  #idleSince = 0
  #readyForUse: Promise<unknown> = Promise.resolve()
  #written: Promise<unknown> = Promise.resolve()
  readonly #onDeath: () => void

  constructor(
    dockId: string,
    parts: DockParts,
    known: DockRecord | UnreadableRecord | null,
    onDeath: () => void,
  ) {
    this.dockId = dockId
    this.parts = parts
    this.logger = parts.logger.child({ dockId })
    this.relay = new LoopbackRelay(parts.driver)
    const isUnreadable = known !== null && 'error' in known
    this.#record = isUnreadable ? null : known
    this.#unreadable = isUnreadable ? known : null
    this.#onDeath = onDeath
  }

  get record(): DockRecord | null {
    return this.#record
  }

  /** The readable parts of an unreadable record; null once a new record is saved in its place. */
  get unreadable(): UnreadableRecord | null {
    return this.#unreadable
  }

  /** The newest known generation, or 0. A command of an older generation is refused. */
  get generation(): number {
    return this.#record?.generation ?? this.#unreadable?.generation ?? 0
  }

  /** The live sandbox, or null if its end was ordered. */
  get live(): SandboxHandle | null {
    return this.#live
  }

  /**
   * Changes the record, in memory immediately. On return the record is on stable storage. If the former record is
   * unreadable, `change` must name a generation: 0 is the warm pool's, whose disks are removed.
   */
  async save(change: Partial<DockRecord> & Pick<DockRecord, 'phase'>): Promise<void> {
    const record: DockRecord = {
      version: 1,
      dockId: this.dockId,
      generation: 0,
      bootId: this.parts.bootId,
      spec: this.#unreadable?.spec ?? null,
      ip: null,
      sandbox: null,
      lastOperation: null,
      booted: null,
      setup: null,
      ...this.#record,
      ...change,
      changedAt: this.parts.clock.now().toISOString(),
    }
    this.#record = record
    this.#unreadable = null
    // Writes of one record run in sequence, so that the newest one remains.
    const written = this.#written.then(() => this.parts.records.write(record))
    this.#written = written.catch(() => undefined)
    await written
  }

  /** True if this is a sandbox of the warm pool that no Dock has claimed. */
  get isInWarmPool(): boolean {
    return this.#record?.generation === 0
  }

  /** Changes the record of a known Dock and keeps its phase. */
  async note(change: Pick<DockRecord, 'setup'>): Promise<void> {
    if (this.#record) await this.save({ ...change, phase: this.#record.phase })
  }

  /** Removes the record, also from stable storage. Afterwards the Dock is unknown. */
  async erase(): Promise<void> {
    this.#record = null
    const erased = this.#written.then(() => this.parts.records.remove(this.dockId))
    this.#written = erased.catch(() => undefined)
    await erased
  }

  /** Sets the Dock's live sandbox and watches it until it dies or its end is ordered. */
  adopt(handle: SandboxHandle, { isNew }: { isNew: boolean }): void {
    if (this.#live) throw new Error(`Dock ${this.dockId} already has a live sandbox`)
    this.#live = handle
    this.parts.live.add(this)
    this.resetIdleTimer()
    this.parts.freezer.adopt(handle, { isNew, cause: !isNew && this.isInWarmPool ? 'warm' : undefined })
    this.parts.driver.wait(handle).then(
      () => {
        if (this.#live !== handle) return
        this.#live = null
        this.parts.live.delete(this)
        this.parts.freezer.forget(handle)
        this.#onDeath()
      },
      (error: unknown) => this.logger.error({ err: error }, 'watching the sandbox failed'),
    )
  }

  /**
   * Wakes the sandbox of this generation for a command, a process or a port, and keeps it from being frozen as idle until
   * it is released. Throws `stale_generation`, `not_running`, or `frozen` while the pool guard freezes all Docks.
   */
  async use(generation: number): Promise<SandboxUse> {
    const current = this.generation
    if (generation < current) {
      throw new AgentRefusal('stale_generation', `the Dock is at generation ${current}`)
    }
    const sandbox = this.#live
    if (!sandbox || this.#record?.phase !== 'running' || generation !== current) {
      throw new AgentRefusal('not_running', 'the Dock has no running sandbox of this generation here')
    }
    const { freezer } = this.parts
    if (freezer.isGuarding) {
      throw new AgentRefusal(
        'frozen',
        'the disk pool of this host is full: every Dock is frozen until there is room',
      )
    }
    this.#uses += 1
    this.#wasUsed = true
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      this.#uses -= 1
      this.#idleSince = this.parts.clock.now().getTime()
    }
    try {
      await freezer.thaw(sandbox, 'idle')
      await this.#readyForUse
    } catch (error) {
      release()
      throw error
    }
    return { sandbox, release }
  }

  /** The Dock with its live sandbox, or null. Null for sandboxes of the warm pool. */
  get running(): RunningDock | null {
    const { record, dockId } = this
    if (!this.#live || !record?.spec || this.isInWarmPool) return null
    const { generation, spec } = record
    return { dockId, generation, memoryMiB: spec.memoryMiB, sandbox: this.#live }
  }

  /** Makes later calls of {@link use} wait for `ready`, which must never reject. */
  delayUseUntil(ready: Promise<unknown>): void {
    this.#readyForUse = ready
  }

  /** The sandbox, if it belongs to a Dock and is not in use. */
  get idle(): IdleSandbox | null {
    if (!this.#live || this.#uses > 0 || this.isInWarmPool || this.#record?.phase !== 'running') return null
    return { sandbox: this.#live, since: this.#idleSince, wasUsed: this.#wasUsed }
  }

  /** Restarts the idle timer and clears `wasUsed`. */
  resetIdleTimer(): void {
    this.#wasUsed = false
    this.#idleSince = this.parts.clock.now().getTime()
  }

  /** Clears the live sandbox before its ordered end, so that its end is not reported as a death. Returns its handle. */
  release(): SandboxHandle | null {
    const handle = this.#live
    this.#live = null
    this.parts.live.delete(this)
    this.unpacking = null
    return handle
  }

  /** Ends the sandbox that memory or the record names. Idempotent. */
  async endSandbox(): Promise<void> {
    const handle = this.release() ?? this.#record?.sandbox ?? null
    if (!handle) return
    await this.parts.driver.destroy(handle)
    this.parts.freezer.forget(handle)
  }
}
