/**
 * One Dock on this host. Its commands run one after the other. A command with an older generation than the record is
 * refused. A command that already succeeded is not run again: its stored result is returned.
 */
import type { Socket } from 'node:net'
import type * as protocol from '@dock/host-protocol'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { DockRecord, UnreadableRecord } from '../sandboxes/dock-record.ts'
import { type DockParts, DockState, type RunningDock, type SandboxUse } from '../sandboxes/dock-state.ts'
import { execInDock } from '../sandboxes/exec-in-dock.ts'
import { loadKept } from '../sandboxes/kept-processes/adopt-kept.ts'
import { createKeptCommands, type KeptCommands } from '../sandboxes/kept-processes/kept-commands.ts'
import { connectPort } from '../sandboxes/ports/connect-port.ts'
import {
  type DockProcess,
  openProcess,
  type ProcessOptions,
  resizeProcess,
  signalProcess,
} from '../sandboxes/processes/open-process.ts'
import { applyEnvironment } from './apply-environment.ts'
import { bootForWarmPool, discardWarmSandbox, type WarmPoolKind } from './boot-for-warm-pool.ts'
import { captureDock } from './capture-dock.ts'
import { cloneInDock } from './clone-repositories.ts'
import { type CommandKind, CommandLane, type DoAfterwards } from './command-lane.ts'
import { destroyDock } from './destroy-dock.ts'
import { endUnreadable } from './end-unreadable.ts'
import { type Recovered, recoverDock } from './recover-dock.ts'
import { setupDock } from './setup-dock.ts'
import { startDock } from './start-dock.ts'
import { endGracefully, stopDock } from './stop-dock.ts'
import { testRuntime } from './test-runtime.ts'

type CommandId = { operationId: string; generation: number }

export class Dock {
  readonly #state: DockState
  readonly #lane = new CommandLane()
  /** The commands on kept processes. */
  readonly kept: KeptCommands
  #cloning: { operationId: string; answer: Promise<protocol.ClonedRepositories> } | null = null
  #setup: { operationId: string; answer: Promise<protocol.SetupOutcome> } | null = null

  constructor(dockId: string, parts: DockParts, known: DockRecord | UnreadableRecord | null) {
    this.#state = new DockState(dockId, parts, known, () => this.#onDeath())
    this.kept = createKeptCommands(this.#state)
  }

  get record(): DockRecord | null {
    return this.#state.record
  }

  /** True if this is a sandbox of the warm pool, ready or still booting. */
  get isInWarmPool(): boolean {
    return this.#state.isInWarmPool
  }

  /** True if this host has no record of the Dock and no command for it is in progress. */
  get isUnknown(): boolean {
    return this.#state.record === null && this.#state.unreadable === null && !this.#lane.isBusy
  }

  /** True if the Dock's disk is here, but not even the generation can be read from a record. */
  get isUnidentified(): boolean {
    const { unreadable } = this.#state
    return unreadable !== null && unreadable.generation === null
  }

  /** The Dock with its live sandbox, or null. Null for sandboxes of the warm pool. */
  get running(): RunningDock | null {
    return this.#state.running
  }

  /** Takes the sandbox of this generation into use. See {@link DockState.use}. */
  use(generation: number): Promise<SandboxUse> {
    return this.#state.use(generation)
  }

  /** Boots a sandbox that no Dock gets, measures it, and removes it. */
  testRuntime(wanted: protocol.TestRuntime): Promise<protocol.RuntimeTest> {
    return this.#lane.exclusively(async () => {
      try {
        return await testRuntime(this.#state, wanted)
      } finally {
        await discardWarmSandbox(this.#state)
      }
    })
  }

  /** Boots a sandbox under this id for the warm pool. If that fails, nothing is left. */
  bootForWarmPool(kind: WarmPoolKind, hostname: string): Promise<void> {
    return this.#lane.exclusively(async () => {
      try {
        await bootForWarmPool(this.#state, kind, hostname)
      } catch (error) {
        await discardWarmSandbox(this.#state)
        throw error
      }
    })
  }

  /** Removes the sandbox of the warm pool, unless a Dock has claimed it in the meantime. */
  discardWarmSandbox(): Promise<void> {
    return this.#lane.exclusively(async () => {
      if (this.isInWarmPool) await discardWarmSandbox(this.#state)
    })
  }

  start(command: protocol.StartDock): Promise<protocol.StartedDock> {
    return this.#run('start', command, async () => {
      const { record } = this.#state
      const hasBooted = record && record.phase !== 'gone' && record.generation === command.generation
      // Captures may have followed the boot, so the start need not be the last operation.
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

  /** `gone` is aborted when the caller disconnects. */
  exec(request: protocol.ExecInDock, gone?: AbortSignal): Promise<protocol.ExecOutcome> {
    return execInDock(this.#state, request, gone)
  }

  openProcess(
    processId: string,
    request: protocol.OpenProcess,
    options: ProcessOptions,
  ): Promise<DockProcess> {
    return openProcess(this.#state, processId, request, options)
  }

  resizeProcess(processId: string, size: protocol.TerminalSize): void {
    resizeProcess(this.#state, processId, size)
  }

  signalProcess(processId: string, signal: protocol.SignalName): Promise<void> {
    return signalProcess(this.#state, processId, signal)
  }

  connectPort(port: number, request: protocol.ConnectPort): Promise<Socket> {
    return connectPort(this.#state, port, request)
  }

  /** Runs the setup script. Joins a run of the same operation; refuses another operation with `busy`. */
  setup(request: protocol.SetupDock): Promise<protocol.SetupOutcome> {
    const underWay = this.#setup
    if (underWay?.operationId === request.operationId) return underWay.answer
    if (underWay) return Promise.reject(new AgentRefusal('busy', 'another setup script is running'))
    const answer = setupDock(this.#state, request).finally(() => {
      this.#setup = null
    })
    this.#setup = { operationId: request.operationId, answer }
    return answer
  }

  /** Replaces the variables and secret files of a running Dock. Idempotent, so it does not wait for other commands. */
  async applyEnvironment({
    generation,
    env,
    files,
  }: protocol.ApplyEnvironment): Promise<Record<string, never>> {
    const use = await this.#state.use(generation)
    try {
      const { driver } = this.#state.parts
      await applyEnvironment(driver, use.sandbox, { env, files })
    } finally {
      use.release()
    }
    return {}
  }

  /** Clones missing repositories. Joins a run of the same operation; refuses another operation with `busy`. */
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

  /** Removes the record of a Dock that is gone, unless a command has arrived in the meantime. */
  eraseIfGone(): Promise<void> {
    return this.#lane.exclusively(async () => {
      if (this.record?.phase === 'gone' && !this.#lane.isBusy) await this.#state.erase()
    })
  }

  /** Adopts or cleans up what an earlier agent left. */
  recover(): Promise<Recovered> {
    return this.#lane.exclusively(async () => {
      await loadKept(this.#state)
      return recoverDock(this.#state)
    })
  }

  /** Ends the sandbox at a shutdown of the host. Keeps the disk, and records that the end was ordered. */
  shutdown(): Promise<void> {
    return this.#lane.exclusively(async () => {
      if (this.isInWarmPool) return await discardWarmSandbox(this.#state)
      if (this.#state.unreadable) return await endUnreadable(this.#state)
      if (!this.#state.live) return
      await endGracefully(this.#state)
      await this.#state.save({ phase: 'stopped', ip: null, sandbox: null })
    })
  }

  /**
   * Returns this Dock's part of the inventory, or null if nothing of the Dock is left. A Dock with an unreadable record is
   * reported as stopped, because its disk is here. Without a readable generation it is {@link isUnidentified} instead.
   */
  report(): protocol.RuntimeReport | null {
    const { record, unreadable } = this.#state
    if (unreadable?.generation) {
      return { dockId: unreadable.dockId, generation: unreadable.generation, state: 'stopped', ip: null }
    }
    if (!record || record.phase === 'gone' || this.isInWarmPool) return null
    const { dockId, generation, phase, ip } = record
    const ended = endOf(record, this.#state.parts.bootId)
    return {
      dockId,
      generation,
      ip,
      state: phase === 'stopping' ? 'running' : phase,
      ...(ended && { ended }),
      ...this.kept.report(),
    }
  }

  async #run<Answer>(
    kind: CommandKind,
    command: CommandId,
    run: (afterwards: DoAfterwards) => Promise<Answer>,
  ): Promise<Answer> {
    const { operationId, generation } = command
    return this.#lane.submit({ kind, operationId, generation }, async (afterwards) => {
      const { record, generation: newest } = this.#state
      if (generation < newest) {
        throw new AgentRefusal('stale_generation', `the Dock is at generation ${newest}`)
      }
      const last = record?.lastOperation
      const isRepeated =
        last?.kind === kind && last.operationId === operationId && last.generation === generation
      return isRepeated ? (last.result as Answer) : run(afterwards)
    })
  }

  /** Throws if this generation has already booted. A generation boots once; a boot that failed may be repeated. */
  #refuseSpentGeneration({ generation }: CommandId): void {
    const { record } = this.#state
    if (!record || generation > record.generation || record.lastOperation === null) return
    if (record.phase === 'running') throw new AgentRefusal('busy', 'the Dock already runs at this generation')
    throw new AgentRefusal('stale_generation', `generation ${generation} was already booted and has ended`)
  }

  /** Returns the description of this warm sandbox for the control plane, or null if it is not one. */
  describeWarmSandbox(): protocol.WarmSandbox | null {
    const { record } = this.#state
    const spec = record?.spec
    if (!this.isInWarmPool || !spec || record.ip === null || spec.source.kind !== 'image') return null
    const { cpus, memoryMiB, diskGiB, hostname, source } = spec
    return { dockId: record.dockId, image: source.image, cpus, memoryMiB, diskGiB, hostname, ip: record.ip }
  }

  #onDeath(): void {
    const { dockId, logger, parts } = this.#state
    if (this.isInWarmPool) {
      logger.warn('a sandbox of the warm pool died')
      parts.warmPoolLosses.emit({ dockId, isClaimed: false })
      this.discardWarmSandbox().catch((error: unknown) => logger.error({ err: error }, 'cleanup failed'))
      return
    }
    const generation = this.#state.record?.generation ?? 0
    logger.warn({ generation }, 'the sandbox died unexpectedly')
    // Save the death at once: the queue may be long, and others read the record in the meantime.
    const recorded = this.#state.save({ phase: 'dead', ip: null })
    // `cleanedUp` awaits this promise later. Until then a rejection must not count as unhandled.
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
    cleanedUp.catch((error: unknown) =>
      logger.error({ err: error }, 'cleanup after the death of a sandbox failed'),
    )
  }
}

/** Returns why there is no sandbox, or undefined if there is one. */
const endOf = ({ phase, bootId }: DockRecord, presentBootId: string): protocol.RuntimeReport['ended'] => {
  if (phase === 'dead') return 'died'
  if (phase !== 'stopped') return undefined
  return bootId === presentBootId ? 'ordered' : 'reboot'
}
