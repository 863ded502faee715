/** What the process keeper keeps: for each Dock the streams of its processes, within its budget and that of the host. */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DockBudget } from './dock-budget.ts'
import { HostBudget } from './host-budget.ts'
import { KeeperRefusal } from './keeper-refusal.ts'
import type { KeeperSettings } from './keeper-settings.ts'
import { KeptStreams, type StreamsState, type WantedStreams } from './kept-streams.ts'
import { LeftPipes } from './left-pipes.ts'

type KeptDock = { budget: DockBudget; processes: Map<string, KeptStreams> }

export class Keeper {
  readonly #root: string
  readonly #settings: KeeperSettings
  readonly #host: HostBudget
  readonly #log: (error: unknown) => void
  readonly #docks = new Map<string, KeptDock>()
  /** What background processes write for nobody. */
  readonly left = new LeftPipes()

  private constructor(root: string, settings: KeeperSettings, log: (error: unknown) => void) {
    this.#root = root
    this.#settings = settings
    this.#host = new HostBudget(settings.hostBytesMax)
    this.#log = log
  }

  /** Creates the keeper of a folder, with the output that an earlier keeper left there. */
  static async open(root: string, settings: KeeperSettings, log: (error: unknown) => void): Promise<Keeper> {
    const keeper = new Keeper(root, settings, log)
    await mkdir(root, { recursive: true, mode: 0o700 })
    for (const dockId of await readdir(root)) {
      const { budget, processes } = keeper.#dock(dockId)
      for (const id of await readdir(join(root, dockId)))
        processes.set(id, await KeptStreams.load(join(root, dockId, id), budget))
    }
    return keeper
  }

  /** True while the keeper holds an end of any pipe. */
  get isNeeded(): boolean {
    if (this.left.isOpen) return true
    for (const { processes } of this.#docks.values())
      for (const streams of processes.values()) if (streams.isOpen) return true
    return false
  }

  /** Makes the pipes of a process. Throws `conflict` if the id is known. */
  async create(dockId: string, id: string, wanted: WantedStreams): Promise<KeptStreams> {
    const { budget, processes } = this.#dock(dockId)
    budget.owner = wanted.owner ?? dockId
    await mkdir(join(this.#root, dockId), { recursive: true, mode: 0o700 })
    const streams = await KeptStreams.create(join(this.#root, dockId, id), budget, wanted, this.#log)
    processes.set(id, streams)
    return streams
  }

  /** Throws `not_found`. */
  find(dockId: string, id: string): KeptStreams {
    const streams = this.#docks.get(dockId)?.processes.get(id)
    if (!streams) throw new KeeperRefusal('not_found', 'the keeper has no such process')
    return streams
  }

  /** Counts a reader of the Dock. Throws `busy` if it has too many. */
  requireReaders(dockId: string): void {
    const { readersPerDockMax } = this.#settings
    if ((this.#docks.get(dockId)?.budget.readers ?? 0) >= readersPerDockMax)
      throw new KeeperRefusal('busy', `${readersPerDockMax} readers of this Dock's processes are connected`)
  }

  /** Returns the streams of all processes of the Dock. */
  list(dockId: string): Record<string, StreamsState> {
    const { processes } = this.#docks.get(dockId) ?? { processes: new Map<string, KeptStreams>() }
    return Object.fromEntries([...processes].map(([id, streams]) => [id, streams.state]))
  }

  /** Returns the ids of all Docks of which anything is kept. */
  docks(): string[] {
    return [...this.#docks.keys()]
  }

  /** Removes one process. What it left behind may write on. Idempotent. */
  async remove(dockId: string, id: string): Promise<void> {
    const dock = this.#docks.get(dockId)
    const streams = dock?.processes.get(id)
    dock?.processes.delete(id)
    if (streams) this.left.keep(dockId, { pid: process.pid, descriptors: streams.heldOutputs() })
    await streams?.remove()
  }

  /** Removes all processes of a Dock. Idempotent. */
  async removeDock(dockId: string): Promise<void> {
    const dock = this.#docks.get(dockId)
    this.#docks.delete(dockId)
    this.left.closeDock(dockId)
    if (dock) this.#host.docks.delete(dock.budget)
    for (const streams of dock?.processes.values() ?? []) await streams.remove()
    await rm(join(this.#root, dockId), { recursive: true, force: true })
  }

  #dock(dockId: string): KeptDock {
    const known = this.#docks.get(dockId)
    if (known) return known
    const budget = new DockBudget(this.#settings, this.#host, dockId)
    const dock = { budget, processes: new Map<string, KeptStreams>() }
    this.#docks.set(dockId, dock)
    return dock
  }
}
