/**
 * All Docks of this host, and the removal of sandboxes, networks and disks without an owner. A disk that a Dock has used is
 * never removed for want of a record: the folder of records may be lost, or an older copy.
 */
import { isUuid, newUuid } from '@dock/foundation'
import type { RuntimeReport, RuntimeTest, TestRuntime, WarmSandbox } from '@dock/host-protocol'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { DockRecord, DockRecords, UnreadableRecord } from '../sandboxes/dock-record.ts'
import type { DockParts, DockState, RunningDock } from '../sandboxes/dock-state.ts'
import type { WarmPoolKind } from './boot-for-warm-pool.ts'
import { Dock } from './dock.ts'

/** Fences: late commands of a Dock that is gone are refused for this long, for at most this many Docks. */
const fenceLifeMs = 24 * 3_600_000
const fencesMax = 2_000
const forgetEveryMs = 10 * 60_000
const shutdownsAtOnce = 4

/** What the agent knows of a Dock whose disk is here but whose record is missing or older than the disk. */
const unrecorded = (dockId: string): UnreadableRecord => ({
  ...{ dockId, generation: null, spec: null },
  error: new Error('this host has no record of the present disk'),
})

export class Docks {
  readonly #parts: DockParts
  readonly #docks = new Map<string, Dock>()
  #accepting = true
  #isTesting = false

  constructor(parts: DockParts) {
    this.#parts = parts
  }

  /** Returns the Dock for a command, and creates it if it is unknown. Throws `busy` while the host is shutting down. */
  getForCommand(dockId: string): Dock {
    if (!this.#accepting) throw new AgentRefusal('busy', 'the host is shutting down')
    const known = this.#docks.get(dockId)
    if (known) return known
    const dock = new Dock(dockId, this.#parts, null)
    this.#docks.set(dockId, dock)
    return dock
  }

  /** Returns the Dock, or null if this host does not know it. */
  find(dockId: string): Dock | null {
    return this.#docks.get(dockId) ?? null
  }

  /** Returns all with a live sandbox, including sandboxes of the warm pool. */
  live(): Iterable<DockState> {
    return this.#parts.live
  }

  running(): RunningDock[] {
    return [...this.#parts.live].flatMap((dock) => dock.running ?? [])
  }

  /** The process keeper died. Ends the processes whose pipes it held. */
  endKeptProcesses(): void {
    for (const dock of this.#docks.values()) dock.kept.endAll()
  }

  /** Removes fences that are older than a day, and the oldest ones beyond {@link fencesMax}. */
  async forgetGone(): Promise<void> {
    const gone = [...this.#docks.values()].flatMap((dock) =>
      dock.record?.phase === 'gone' ? { dock, endedAt: Date.parse(dock.record.changedAt) } : [],
    )
    gone.sort((one, other) => other.endedAt - one.endedAt)
    const oldest = this.#parts.clock.now().getTime() - fenceLifeMs
    for (const [index, { dock, endedAt }] of gone.entries()) {
      const dockId = dock.record?.dockId
      if ((index < fencesMax && endedAt > oldest) || dockId === undefined) continue
      await dock.eraseIfGone()
      this.#forget(dockId)
    }
  }

  /** Removes old fences periodically. Returns a function that stops this. */
  watchGone(): () => void {
    const { clock, logger } = this.#parts
    let cancel = () => {}
    const again = (): void => {
      cancel = clock.after(forgetEveryMs, () => {
        this.forgetGone()
          .catch((error: unknown) =>
            logger.warn({ err: error }, 'could not remove the fences of former Docks'),
          )
          .finally(again)
      })
    }
    again()
    return () => cancel()
  }

  /** Boots a sandbox for the warm pool, under the id of a future Dock. */
  async bootForWarmPool(dockId: string, kind: WarmPoolKind, hostname: string): Promise<void> {
    try {
      await this.getForCommand(dockId).bootForWarmPool(kind, hostname)
    } finally {
      this.#forget(dockId)
    }
  }

  /** Tests the runtime with a sandbox that no Dock gets. Throws `busy` while another test runs. */
  async testRuntime(wanted: TestRuntime): Promise<RuntimeTest> {
    if (this.#isTesting) throw new AgentRefusal('busy', 'another test of this host runs')
    this.#isTesting = true
    const dockId = newUuid()
    try {
      return await this.getForCommand(dockId).testRuntime(wanted)
    } finally {
      this.#isTesting = false
      this.#forget(dockId)
    }
  }

  /** Removes a sandbox of the warm pool, unless a Dock claims it in the meantime. */
  async discardWarmSandbox(dockId: string): Promise<void> {
    await this.#docks.get(dockId)?.discardWarmSandbox()
    this.#forget(dockId)
  }

  /** Returns the sandboxes of the warm pool that are ready. */
  listWarmSandboxes(): WarmSandbox[] {
    return [...this.#docks.values()].flatMap((dock) => dock.describeWarmSandbox() ?? [])
  }

  #forget(dockId: string): void {
    if (this.#docks.get(dockId)?.isUnknown) this.#docks.delete(dockId)
  }

  reports(): RuntimeReport[] {
    return [...this.#docks.values()].flatMap((dock) => dock.report() ?? [])
  }

  /** Returns the Docks whose disk is here without a known generation. They are not in {@link reports}. */
  unidentified(): string[] {
    return [...this.#docks].flatMap(([dockId, dock]) =>
      dock.isUnidentified && isUuid(dockId) ? [dockId] : [],
    )
  }

  /** At the agent's start: adopts running sandboxes, undoes incomplete starts, removes what no record owns. */
  async recover(): Promise<void> {
    const { records, logger, clock } = this.#parts
    const kept = await records.readAll()
    const adopted = new Set<string>()
    const unreadable = [...kept.unreadable, ...(await this.#findUnrecorded(kept))]
    const leftAlone = new Set(unreadable.map(({ dockId }) => dockId))
    await this.#keepUnreadable(unreadable)
    await this.#endUnowned(kept.records, leftAlone)
    for (const record of kept.records) {
      const { dockId } = record
      const ageMs = clock.now().getTime() - Date.parse(record.changedAt)
      if (record.phase === 'gone' && ageMs > fenceLifeMs) {
        await records.remove(dockId)
        continue
      }
      const dock = new Dock(dockId, this.#parts, record)
      this.#docks.set(dockId, dock)
      const found = await dock.recover()
      if (found === 'adopted') adopted.add(dockId)
      if (found === 'stuck') leftAlone.add(dockId)
      this.#forget(dockId)
    }
    await this.#removeOrphans(adopted, leftAlone)
    await this.#removeStrayProcesses()
    logger.info({ adopted: adopted.size, known: this.reports().length }, 'docks recovered')
  }

  /** Returns the Docks whose used disk is here without any record of them. */
  async #findUnrecorded(kept: Awaited<ReturnType<DockRecords['readAll']>>): Promise<UnreadableRecord[]> {
    const { disks } = this.#parts
    const recorded = new Set([...kept.records, ...kept.unreadable].map(({ dockId }) => dockId))
    const found: UnreadableRecord[] = []
    for (const dockId of (await disks.list()).disks) {
      if (!recorded.has(dockId) && !(await disks.isUnneeded(dockId))) found.push(unrecorded(dockId))
    }
    return found
  }

  /** Makes unreadable Docks with a disk known, so that commands find them and reports name them. Changes nothing of theirs. */
  async #keepUnreadable(unreadable: readonly UnreadableRecord[]): Promise<void> {
    const { disks, logger } = this.#parts
    for (const record of unreadable) {
      const { dockId, generation, error } = record
      const hasDisk = await disks.has(dockId)
      logger.error({ err: error, dockId, generation, hasDisk }, 'the record of a Dock cannot be read')
      if (hasDisk) this.#docks.set(dockId, new Dock(dockId, this.#parts, record))
    }
  }

  /** Shuts down every sandbox and refuses further commands. Disks are kept for the next start. */
  async shutdown(): Promise<void> {
    this.#accepting = false
    const waiting = [...this.#docks.values()]
    const worker = async () => {
      for (let dock = waiting.pop(); dock; dock = waiting.pop()) {
        const { record } = dock
        await dock.shutdown().catch((error: unknown) => {
          this.#parts.logger.error({ err: error, dockId: record?.dockId }, 'shutting down a Dock failed')
        })
      }
    }
    await Promise.all(Array.from({ length: shutdownsAtOnce }, worker))
  }

  /** Removes what is kept of processes whose Dock this host does not know. */
  async #removeStrayProcesses(): Promise<void> {
    const { keptRecords, keeper } = this.#parts
    for (const dockId of await keptRecords.docks()) {
      if (this.#docks.has(dockId)) continue
      await keeper.removeDock(dockId)
      await keptRecords.removeDock(dockId)
    }
  }

  /** Must run before networks and disks are removed: a sandbox whose agent died while starting it still uses them. */
  async #endUnowned(records: readonly DockRecord[], untouchable: ReadonlySet<string>): Promise<void> {
    const { driver, logger } = this.#parts
    const inUse = records.filter(({ phase }) => phase !== 'gone')
    const owned = new Map(inUse.map(({ dockId, sandbox }) => [dockId, sandbox]))
    for (const handle of await driver.list()) {
      const { dockId, generation } = handle
      if (untouchable.has(dockId) || owned.get(dockId)?.generation === generation) continue
      logger.warn({ dockId, generation }, 'ending a sandbox that no record owns')
      await driver.destroy(handle)
    }
  }

  /** Skips Docks whose record cannot be read. Throws if a listing fails, which stops the agent's start. */
  async #removeOrphans(adopted: ReadonlySet<string>, untouchable: ReadonlySet<string>): Promise<void> {
    const { networks, disks, logger } = this.#parts
    for (const dockId of await networks.list()) {
      if (adopted.has(dockId) || untouchable.has(dockId)) continue
      logger.warn({ dockId }, 'removing a network that no record owns')
      await networks.destroy(dockId)
    }
    const owners = new Set([...adopted, ...this.reports().map((report) => report.dockId)])
    for (const dockId of (await disks.list()).disks) {
      if (owners.has(dockId) || untouchable.has(dockId)) continue
      if (!(await disks.isUnneeded(dockId))) {
        await this.#keepUnreadable([unrecorded(dockId)])
        continue
      }
      logger.warn({ dockId }, 'removing a disk that no record owns')
      await disks.remove(dockId)
    }
  }
}
