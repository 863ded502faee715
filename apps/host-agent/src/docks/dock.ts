/**
 * One Dock on this host. Its commands run one after the other; a generation older than the newest that was seen is
 * refused; a command that succeeded is not run again but answered as before.
 */
import type { Socket } from 'node:net'
import type * as protocol from '@dock/host-protocol'
import { connectPort } from '../ports/connect-port.ts'
import { type DockTerminal, openTerminal, resizeTerminal } from '../terminals/open-terminal.ts'
import { AgentRefusal } from './agent-refusal.ts'
import { captureDock } from './capture-dock.ts'
import { cloneInDock } from './clone-repositories.ts'
import { type CommandKind, CommandLane, type DoAfterwards } from './command-lane.ts'
import { destroyDock } from './destroy-dock.ts'
import type { DockRecord } from './dock-record.ts'
import { type DockParts, DockState, type RunningDock, type SandboxUse } from './dock-state.ts'
import { execInDock } from './exec-in-dock.ts'
import { furnishDock } from './furnish-dock.ts'
import { bootForPool, discardPooled, type PoolKind } from './pool-boot.ts'
import { type Recovered, recoverDock } from './recover-dock.ts'
import { setupDock } from './setup-dock.ts'
import { startDock } from './start-dock.ts'
import { endInOrder, stopDock } from './stop-dock.ts'

type Numbered = { operationId: string; generation: number }

export class Dock {
  readonly #state: DockState
  readonly #lane = new CommandLane()
  #cloning: { operationId: string; answer: Promise<protocol.ClonedRepositories> } | null = null
  #setup: { operationId: string; answer: Promise<protocol.SetupOutcome> } | null = null

  constructor(dockId: string, parts: DockParts, record: DockRecord | null) {
    this.#state = new DockState(dockId, parts, record, () => this.#onDeath())
  }

  get record(): DockRecord | null {
    return this.#state.record
  }

  /** Whether it is a sandbox of the warm pool, made or being made. */
  get isPooled(): boolean {
    return this.#state.isPooled
  }

  /** Whether nothing of the Dock is known or under way here. */
  get isNothing(): boolean {
    return this.#state.record === null && !this.#lane.isBusy
  }

  /** The Dock with its sandbox, while that is alive; not one of the warm pool. */
  get running(): RunningDock | null {
    return this.#state.running
  }

  /** Takes the sandbox of this generation into use, as {@link DockState.use} says. */
  use(generation: number): Promise<SandboxUse> {
    return this.#state.use(generation)
  }

  /** Boots a sandbox under this id for the warm pool; on failure nothing is left. */
  bootForPool(kind: PoolKind, hostname: string): Promise<void> {
    return this.#lane.exclusively(async () => {
      try {
        await bootForPool(this.#state, kind, hostname)
      } catch (error) {
        await discardPooled(this.#state)
        throw error
      }
    })
  }

  /** Removes the sandbox of the warm pool, unless it has been claimed by the time its turn comes. */
  discardPooled(): Promise<void> {
    return this.#lane.exclusively(async () => {
      if (this.isPooled) await discardPooled(this.#state)
    })
  }

  start(command: protocol.StartDock): Promise<protocol.StartedDock> {
    return this.#run('start', command, async () => {
      const { record } = this.#state
      const hasBooted = record && record.phase !== 'gone' && record.generation === command.generation
      // Captures may have followed the boot, so that its command is no longer the last.
      if (hasBooted && record.booted?.operationId === command.operationId) return record.booted.result
      this.#refuseSpentGeneration(command)
      return startDock(this.#state, command)
    })
  }

  stop(command: protocol.StopDock): Promise<protocol.StoppedDock> {
    return this.#run('stop', command, (afterwards) => stopDock(this.#state, command, afterwards))
  }

  capture(command: protocol.CaptureDock): Promise<protocol.Captured> {
    return this.#run('capture', command, () => captureDock(this.#state, command))
  }

  destroy(command: protocol.DestroyDock): Promise<Record<string, never>> {
    return this.#run('destroy', command, () => destroyDock(this.#state, command))
  }

  exec(request: protocol.ExecInDock): Promise<protocol.ExecOutcome> {
    return execInDock(this.#state, request)
  }

  openTerminal(terminalId: string, request: protocol.OpenTerminal): Promise<DockTerminal> {
    return openTerminal(this.#state, terminalId, request)
  }

  resizeTerminal(terminalId: string, size: protocol.TerminalSize): void {
    resizeTerminal(this.#state, terminalId, size)
  }

  connectPort(port: number, request: protocol.ConnectPort): Promise<Socket> {
    return connectPort(this.#state, port, request)
  }

  /** Joins the run of the same operation that is under way; another one meanwhile is `busy`. */
  setup(request: protocol.SetupDock): Promise<protocol.SetupOutcome> {
    const underWay = this.#setup
    if (underWay?.operationId === request.operationId) return underWay.answer
    if (underWay) return Promise.reject(new AgentRefusal('busy', 'another setup script is under way'))
    const answer = setupDock(this.#state, request).finally(() => {
      this.#setup = null
    })
    this.#setup = { operationId: request.operationId, answer }
    return answer
  }

  /** Gives a running Dock other variables and secret files. Beside its queue: repeating it is harmless. */
  async furnish({ generation, env, files }: protocol.FurnishDock): Promise<Record<string, never>> {
    const use = await this.#state.use(generation)
    try {
      const { driver } = this.#state.parts
      await furnishDock(driver, use.sandbox, { env, files })
    } finally {
      use.release()
    }
    return {}
  }

  /** Clones what is not there yet. Joins a run of the same operation; another one meanwhile is `busy`. */
  cloneRepositories(request: protocol.CloneRepositories): Promise<protocol.ClonedRepositories> {
    const underWay = this.#cloning
    if (underWay?.operationId === request.operationId) return underWay.answer
    if (underWay) return Promise.reject(new AgentRefusal('busy', 'other repositories are being cloned'))
    const answer = cloneInDock(this.#state, request).finally(() => {
      this.#cloning = null
    })
    this.#cloning = { operationId: request.operationId, answer }
    return answer
  }

  /** Removes the record of a Dock of which nothing but the fence is left, unless a command has come meanwhile. */
  forgetEnd(): Promise<void> {
    return this.#lane.exclusively(async () => {
      if (this.record?.phase === 'gone' && !this.#lane.isBusy) await this.#state.erase()
    })
  }

  /** Takes up what an earlier agent left. */
  recover(): Promise<Recovered> {
    return this.#lane.exclusively(() => recoverDock(this.#state))
  }

  /** Ends the sandbox for a clean shutdown: the disk stays, and the record says that the end was ordered. */
  shutdown(): Promise<void> {
    return this.#lane.exclusively(async () => {
      if (this.isPooled) return await discardPooled(this.#state)
      if (!this.#state.live) return
      await endInOrder(this.#state)
      await this.#state.save({ phase: 'stopped', ip: null, sandbox: null })
    })
  }

  /** What the control plane is told of this Dock; null when nothing of it is left. */
  report(): protocol.RuntimeReport | null {
    const { record } = this.#state
    if (!record || record.phase === 'gone' || this.isPooled) return null
    const { dockId, generation, phase, ip } = record
    const ended = endOf(record, this.#state.parts.bootId)
    return {
      dockId,
      generation,
      ip,
      state: phase === 'stopping' ? 'running' : phase,
      ...(ended && { ended }),
    }
  }

  async #run<Answer>(
    kind: CommandKind,
    command: Numbered,
    run: (afterwards: DoAfterwards) => Promise<Answer>,
  ): Promise<Answer> {
    const { operationId, generation } = command
    return this.#lane.submit({ kind, operationId, generation }, async (afterwards) => {
      const { record } = this.#state
      if (record && generation < record.generation) {
        throw new AgentRefusal('stale_generation', `the Dock is at generation ${record.generation}`)
      }
      const last = record?.lastOperation
      const isRepeated =
        last?.kind === kind && last.operationId === operationId && last.generation === generation
      return isRepeated ? (last.result as Answer) : run(afterwards)
    })
  }

  /** A generation boots once: after it ran or was destroyed, only a newer one may boot. A failed boot may be repeated. */
  #refuseSpentGeneration({ generation }: Numbered): void {
    const { record } = this.#state
    if (!record || generation > record.generation || record.lastOperation === null) return
    if (record.phase === 'running') throw new AgentRefusal('busy', 'the Dock runs at this generation')
    throw new AgentRefusal('stale_generation', `generation ${generation} has been booted and ended`)
  }

  /** What the warm pool tells of its sandbox. */
  poolReport(): protocol.PoolReport | null {
    const { record } = this.#state
    const spec = record?.spec
    if (!this.isPooled || !spec || record.ip === null || spec.source.kind !== 'image') return null
    const { cpus, memoryMiB, diskGiB, hostname, source } = spec
    return { dockId: record.dockId, image: source.image, cpus, memoryMiB, diskGiB, hostname, ip: record.ip }
  }

  #onDeath(): void {
    const { dockId, logger, parts } = this.#state
    if (this.isPooled) {
      logger.warn('a sandbox of the warm pool died')
      parts.poolLosses.emit({ dockId, isClaimed: false })
      this.discardPooled().catch((error: unknown) => logger.error({ err: error }, 'cleaning up failed'))
      return
    }
    const generation = this.#state.record?.generation ?? 0
    logger.warn({ generation }, 'sandbox died without an order')
    // The queue may be long: what reads the record in between sees the death already.
    const recorded = this.#state.save({ phase: 'dead', ip: null })
    // Looked at when its turn comes; until then its failure is nobody's.
    recorded.catch(() => undefined)
    parts.events.emit({ type: 'dock.died', dockId, generation })
    const cleanedUp = this.#lane.exclusively(async () => {
      await recorded
      const { record } = this.#state
      if (record?.phase !== 'dead' || record.generation !== generation) return
      await this.#state.endSandbox()
      await Promise.all([parts.networks.destroy(dockId), parts.disks.detach(dockId)])
      await this.#state.save({ phase: 'dead', sandbox: null })
    })
    cleanedUp.catch((error: unknown) => logger.error({ err: error }, 'cleaning up after a death failed'))
  }
}

/** Why there is no sandbox any more; undefined while there is one. */
const endOf = ({ phase, bootId }: DockRecord, presentBootId: string): protocol.RuntimeReport['ended'] => {
  if (phase === 'dead') return 'died'
  if (phase !== 'stopped') return undefined
  return bootId === presentBootId ? 'ordered' : 'reboot'
}
