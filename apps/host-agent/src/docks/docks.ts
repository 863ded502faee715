/** All Docks of this host, and what nobody owns. */
import type { PoolReport, RuntimeReport } from '@dock/host-protocol'
import { AgentRefusal } from './agent-refusal.ts'
import { Dock } from './dock.ts'
import type { DockRecord } from './dock-record.ts'
import type { DockParts, DockState, RunningDock } from './dock-state.ts'
import type { PoolKind } from './pool-boot.ts'

/** A late command of a Dock that is gone is refused for so long, and for so many Docks. */
const fenceLifeMs = 24 * 3_600_000
const fencesMax = 2_000
const forgetEveryMs = 10 * 60_000
const shutdownsAtOnce = 4

export class Docks {
  readonly #parts: DockParts
  readonly #docks = new Map<string, Dock>()
  #accepting = true

  constructor(parts: DockParts) {
    this.#parts = parts
  }

  /** The Dock, to take a command. Throws `busy` once the host is being shut down. */
  commandable(dockId: string): Dock {
    if (!this.#accepting) throw new AgentRefusal('busy', 'the host is shutting down')
    const known = this.#docks.get(dockId)
    if (known) return known
    const dock = new Dock(dockId, this.#parts, null)
    this.#docks.set(dockId, dock)
    return dock
  }

  /** The Dock, if this host has heard of it. */
  known(dockId: string): Dock | null {
    return this.#docks.get(dockId) ?? null
  }

  /** Those with a sandbox that is alive, of the warm pool too. */
  live(): Iterable<DockState> {
    return this.#parts.live
  }

  running(): RunningDock[] {
    return [...this.#parts.live].flatMap((dock) => dock.running ?? [])
  }

  /** Forgets Docks that are gone: those of more than a day ago, and the oldest where they are very many. */
  async forgetEnded(): Promise<void> {
    const gone = [...this.#docks.values()].flatMap((dock) =>
      dock.record?.phase === 'gone' ? { dock, endedAt: Date.parse(dock.record.changedAt) } : [],
    )
    gone.sort((one, other) => other.endedAt - one.endedAt)
    const oldest = this.#parts.clock.now().getTime() - fenceLifeMs
    for (const [index, { dock, endedAt }] of gone.entries()) {
      const dockId = dock.record?.dockId
      if ((index < fencesMax && endedAt > oldest) || dockId === undefined) continue
      await dock.forgetEnd()
      this.#forget(dockId)
    }
  }

  /** Forgets from now on what ended. The result ends it. */
  watchEnded(): () => void {
    const { clock, logger } = this.#parts
    let cancel = () => {}
    const again = (): void => {
      cancel = clock.after(forgetEveryMs, () => {
        this.forgetEnded()
          .catch((error: unknown) => logger.warn({ err: error }, 'Docks that ended could not be forgotten'))
          .finally(again)
      })
    }
    again()
    return () => cancel()
  }

  /** A new sandbox of the warm pool, under the id that a Dock will have. */
  async bootForPool(dockId: string, kind: PoolKind, hostname: string): Promise<void> {
    try {
      await this.commandable(dockId).bootForPool(kind, hostname)
    } finally {
      this.#forget(dockId)
    }
  }

  /** Removes a sandbox of the warm pool, unless it is claimed meanwhile. */
  async discardPooled(dockId: string): Promise<void> {
    await this.#docks.get(dockId)?.discardPooled()
    this.#forget(dockId)
  }

  /** The warm pool's sandboxes that are whole. */
  pooled(): PoolReport[] {
    return [...this.#docks.values()].flatMap((dock) => dock.poolReport() ?? [])
  }

  #forget(dockId: string): void {
    if (this.#docks.get(dockId)?.isNothing) this.#docks.delete(dockId)
  }

  reports(): RuntimeReport[] {
    return [...this.#docks.values()].flatMap((dock) => dock.report() ?? [])
  }

  /** At the agent's start: adopts what runs, takes back what is half made, removes what no handle owns. */
  async recover(): Promise<void> {
    const { records, logger, clock } = this.#parts
    const kept = await records.readAll()
    const adopted = new Set<string>()
    const leftAlone = new Set(kept.unreadable)
    for (const dockId of leftAlone) logger.error({ dockId }, 'the handle file cannot be read')
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
    logger.info({ adopted: adopted.size, known: this.reports().length }, 'docks recovered')
  }

  /** Ends every sandbox in order and takes no further command. Disks stay, so that a later start boots them again. */
  async shutdown(): Promise<void> {
    this.#accepting = false
    const waiting = [...this.#docks.values()]
    const worker = async () => {
      for (let dock = waiting.pop(); dock; dock = waiting.pop()) {
        const { record } = dock
        await dock.shutdown().catch((error: unknown) => {
          this.#parts.logger.error({ err: error, dockId: record?.dockId }, 'ending a Dock failed')
        })
      }
    }
    await Promise.all(Array.from({ length: shutdownsAtOnce }, worker))
  }

  /** Before anything else is taken back: a sandbox that was made as its agent died holds disk and network. */
  async #endUnowned(records: readonly DockRecord[], untouchable: ReadonlySet<string>): Promise<void> {
    const { driver, logger } = this.#parts
    const inUse = records.filter(({ phase }) => phase !== 'gone')
    const owned = new Map(inUse.map(({ dockId, sandbox }) => [dockId, sandbox]))
    for (const handle of await driver.list()) {
      const { dockId, generation } = handle
      if (untouchable.has(dockId) || owned.get(dockId)?.generation === generation) continue
      logger.warn({ dockId, generation }, 'ending a sandbox that no handle owns')
      await driver.destroy(handle)
    }
  }

  /** Nothing of a Dock whose handle file cannot be understood is touched. A listing that fails stops the start. */
  async #removeOrphans(adopted: ReadonlySet<string>, untouchable: ReadonlySet<string>): Promise<void> {
    const { networks, disks, logger } = this.#parts
    for (const dockId of await networks.list()) {
      if (adopted.has(dockId) || untouchable.has(dockId)) continue
      logger.warn({ dockId }, 'removing a network that no handle owns')
      await networks.destroy(dockId)
    }
    const owners = new Set([...adopted, ...this.reports().map((report) => report.dockId)])
    for (const dockId of (await disks.list()).disks) {
      if (owners.has(dockId) || untouchable.has(dockId)) continue
      logger.warn({ dockId }, 'removing a disk that no handle owns')
      await disks.remove(dockId)
    }
  }
}
