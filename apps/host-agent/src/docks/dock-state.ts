/**
 * What one Dock's commands share: its record, and the sandbox that is alive for it. Keeps the invariant that a Dock
 * never has two live sandboxes: only {@link DockState.adopt} names a live one, and only when there is none.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { RuntimeDriver, SandboxHandle } from '@dock/runtime'
import type { DockEvents } from './dock-events.ts'
import type { DockRecord, DockRecords } from './dock-record.ts'
import type { DiskPool, Networks } from './seams.ts'

/** What all Docks of a host share. */
export type DockParts = {
  driver: RuntimeDriver
  disks: DiskPool
  networks: Networks
  records: DockRecords
  events: DockEvents
  /** The machine's present boot. */
  bootId: string
  clock: Clock
  logger: Logger
}

export class DockState {
  readonly dockId: string
  readonly parts: DockParts
  readonly logger: Logger
  /** Commands of tenants that are being run. */
  execsInFlight = 0
  #record: DockRecord | null
  #live: SandboxHandle | null = null
  #written: Promise<unknown> = Promise.resolve()
  readonly #onDeath: (handle: SandboxHandle) => void

  constructor(
    dockId: string,
    parts: DockParts,
    record: DockRecord | null,
    onDeath: (handle: SandboxHandle) => void,
  ) {
    this.dockId = dockId
    this.parts = parts
    this.logger = parts.logger.child({ dockId })
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

  /** Names the Dock's live sandbox and watches it until it dies or its end is ordered. */
  adopt(handle: SandboxHandle): void {
    if (this.#live) throw new Error(`Dock ${this.dockId} has a live sandbox already`)
    this.#live = handle
    this.parts.driver.wait(handle).then(
      () => {
        if (this.#live !== handle) return
        this.#live = null
        this.#onDeath(handle)
      },
      (error: unknown) => this.logger.error({ err: error }, 'watching the sandbox failed'),
    )
  }

  /** Gives up the live sandbox, because its end is ordered: its death is no news from now on. */
  release(): SandboxHandle | null {
    const handle = this.#live
    this.#live = null
    return handle
  }

  /** Ends whatever sandbox the record or memory names. Repeating it is harmless. */
  async endSandbox(): Promise<void> {
    const handle = this.release() ?? this.#record?.sandbox ?? null
    if (handle) await this.parts.driver.destroy(handle)
  }
}
