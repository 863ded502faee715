/**
 * What one Dock's commands share: its record, and the sandbox that is alive for it. Keeps the invariant that a Dock
 * never has two live sandboxes: only {@link DockState.adopt} names a live one, and only when there is none.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import type { Freezer } from '../freezing/freezer.ts'
import type { GitDoors } from '../git-door/git-doors.ts'
import { LoopbackRelay } from '../ports/loopback-relay.ts'
import type { OpenTerminals } from '../terminals/open-terminals.ts'
import { AgentRefusal } from './agent-refusal.ts'
import type { BootTurns } from './boot-turns.ts'
import type { CaptureNotes } from './capture-notes.ts'
import type { DockEvents } from './dock-events.ts'
import type { DockRecord, DockRecords } from './dock-record.ts'
import type { Emitter } from './emitter.ts'
import type { DiskPool, Networks } from './seams.ts'
import type { Unpacking } from './unpack-in-dock.ts'

/** A sandbox has left the warm pool: claimed, or gone. */
export type PoolLoss = { dockId: string; isClaimed: boolean }

/** What all Docks of a host share. */
export type DockParts = {
  driver: RuntimeDriver
  disks: DiskPool
  networks: Networks
  gitDoors: GitDoors
  records: DockRecords
  captureNotes: CaptureNotes
  events: DockEvents
  poolLosses: Emitter<PoolLoss>
  freezer: Freezer
  turns: BootTurns
  /** The Docks and pooled sandboxes that are alive: far fewer than those that this host has heard of. */
  live: Set<DockState>
  /** The machine's present boot. */
  bootId: string
  clock: Clock
  logger: Logger
}

/** A sandbox in use: awake until `release` is called. */
export type SandboxUse = { sandbox: SandboxHandle; release: () => void }

/** A Dock with a sandbox that is alive. */
export type RunningDock = {
  dockId: string
  generation: number
  memoryMiB: number
  sandbox: SandboxHandle
}

/** A sandbox that nobody uses, since when, and whether anybody has since it is known. */
export type RestingSandbox = { sandbox: SandboxHandle; since: number; wasUsed: boolean }

export class DockState {
  readonly dockId: string
  readonly parts: DockParts
  readonly logger: Logger
  /** Commands of tenants that are being run. */
  execsInFlight = 0
  readonly terminals: OpenTerminals = new Map()
  /** Waits in a sandbox of the warm pool for what its Dock is given. */
  unpacking: Unpacking | null = null
  readonly relay: LoopbackRelay
  #record: DockRecord | null
  #live: SandboxHandle | null = null
  #uses = 0
  #wasUsed = false
  #restsSince = 0
  #readyForUse: Promise<unknown> = Promise.resolve()
  #written: Promise<unknown> = Promise.resolve()
  readonly #onDeath: () => void

  constructor(dockId: string, parts: DockParts, record: DockRecord | null, onDeath: () => void) {
    this.dockId = dockId
    this.parts = parts
    this.logger = parts.logger.child({ dockId })
    this.relay = new LoopbackRelay(parts.driver)
    this.#record = record
    this.#onDeath = onDeath
  }

  get record(): DockRecord | null {
    return this.#record
  }

  /** The sandbox that runs now, not one whose end was ordered. */
  get live(): SandboxHandle | null {
    return this.#live
  }

  /** Changes the record, in memory at once; on return it is on stable storage. */
  async save(change: Partial<DockRecord> & Pick<DockRecord, 'phase'>): Promise<void> {
    const record: DockRecord = {
      version: 1,
      dockId: this.dockId,
      generation: 0,
      bootId: this.parts.bootId,
      spec: null,
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
    // Writes of one record follow each other, so that the newest is what stays.
    const written = this.#written.then(() => this.parts.records.write(record))
    this.#written = written.catch(() => undefined)
    await written
  }

  /** Whether it is a sandbox of the warm pool, which no Dock has claimed. */
  get isPooled(): boolean {
    return this.#record?.generation === 0
  }

  /** Adds to the record of a Dock that is known, without a change of its phase. */
  async note(change: Pick<DockRecord, 'setup'>): Promise<void> {
    if (this.#record) await this.save({ ...change, phase: this.#record.phase })
  }

  /** Removes the record, on stable storage too: the Dock is unknown afterwards. */
  async erase(): Promise<void> {
    this.#record = null
    const erased = this.#written.then(() => this.parts.records.remove(this.dockId))
    this.#written = erased.catch(() => undefined)
    await erased
  }

  /** Names the Dock's live sandbox and watches it until it dies or its end is ordered. */
  adopt(handle: SandboxHandle, { isNew }: { isNew: boolean }): void {
    if (this.#live) throw new Error(`Dock ${this.dockId} has a live sandbox already`)
    this.#live = handle
    this.parts.live.add(this)
    this.beginRest()
    this.parts.freezer.adopt(handle, { isNew, cause: !isNew && this.isPooled ? 'pool' : undefined })
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
   * Takes the sandbox of this generation into use, for a command, a terminal or a port: it is awake, and not frozen for
   * being idle until it is released. Throws `stale_generation`, `not_running`, or `frozen` while the guard holds all.
   */
  async use(generation: number): Promise<SandboxUse> {
    const current = this.#record?.generation ?? 0
    if (generation < current) {
      throw new AgentRefusal('stale_generation', `the Dock is at generation ${current}`)
    }
    const sandbox = this.#live
    if (!sandbox || this.#record?.phase !== 'running' || generation !== current) {
      throw new AgentRefusal('not_running', 'the Dock has no running sandbox of this generation here')
    }
    const { freezer } = this.parts
    if (freezer.isGuarding) {
      throw new AgentRefusal('frozen', 'the pool of disks is full: every Dock stands still until it has room')
    }
    this.#uses += 1
    this.#wasUsed = true
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      this.#uses -= 1
      this.#restsSince = this.parts.clock.now().getTime()
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

  /** The Dock with its sandbox, while that is alive; not one of the warm pool. */
  get running(): RunningDock | null {
    const { record, dockId } = this
    if (!this.#live || !record?.spec || this.isPooled) return null
    const { generation, spec } = record
    return { dockId, generation, memoryMiB: spec.memoryMiB, sandbox: this.#live }
  }

  /** Whoever takes the sandbox into use from now on waits for this, which never rejects. */
  useAfter(ready: Promise<unknown>): void {
    this.#readyForUse = ready
  }

  /** The sandbox, while it is a Dock's and nobody uses it. */
  get resting(): RestingSandbox | null {
    if (!this.#live || this.#uses > 0 || this.isPooled || this.#record?.phase !== 'running') return null
    return { sandbox: this.#live, since: this.#restsSince, wasUsed: this.#wasUsed }
  }

  /** Begins the time in which nobody uses it anew, as if nobody ever had. */
  beginRest(): void {
    this.#wasUsed = false
    this.#restsSince = this.parts.clock.now().getTime()
  }

  /** Gives up the live sandbox, because its end is ordered: its death is no news from now on. */
  release(): SandboxHandle | null {
    const handle = this.#live
    this.#live = null
    this.parts.live.delete(this)
    this.unpacking = null
    return handle
  }

  /** Ends whatever sandbox the record or memory names. Repeating it is harmless. */
  async endSandbox(): Promise<void> {
    const handle = this.release() ?? this.#record?.sandbox ?? null
    if (!handle) return
    await this.parts.driver.destroy(handle)
    this.parts.freezer.forget(handle)
  }
}
