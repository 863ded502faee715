/**
 * One Dock on this host. Its commands run one after the other; a generation older than the newest that was seen is
 * refused; a command that succeeded is not run again but answered as before.
 */
import type * as protocol from '@dock/host-protocol'
import type { SandboxHandle } from '@dock/runtime'
import { AgentRefusal } from './agent-refusal.ts'
import { captureDock } from './capture-dock.ts'
import { type CommandKind, CommandLane } from './command-lane.ts'
import { destroyDock } from './destroy-dock.ts'
import type { DockRecord } from './dock-record.ts'
import { type DockParts, DockState } from './dock-state.ts'
import { execInDock } from './exec-in-dock.ts'
import { recoverDock } from './recover-dock.ts'
import { startDock } from './start-dock.ts'
import { endInOrder, stopDock } from './stop-dock.ts'

type Numbered = { operationId: string; generation: number }

export class Dock {
  readonly #state: DockState
  readonly #lane = new CommandLane()

  constructor(dockId: string, parts: DockParts, record: DockRecord | null) {
    this.#state = new DockState(dockId, parts, record, (handle) => this.#onDeath(handle))
  }

  get record(): DockRecord | null {
    return this.#state.record
  }

  start(command: protocol.StartDock): Promise<protocol.StartedDock> {
    return this.#run('start', command, () => {
      this.#refuseSpentGeneration(command)
      return startDock(this.#state, command)
    })
  }

  stop(command: protocol.StopDock): Promise<protocol.StoppedDock> {
    return this.#run('stop', command, () => stopDock(this.#state, command))
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

  /** Takes up what an earlier agent left; answers whether a sandbox was adopted. */
  recover(): Promise<boolean> {
    return this.#lane.exclusively(() => recoverDock(this.#state))
  }

  /** Ends the sandbox for a clean shutdown: the disk stays, and the record says that the end was ordered. */
  shutdown(): Promise<void> {
    return this.#lane.exclusively(async () => {
      if (!this.#state.live) return
      await endInOrder(this.#state)
      await this.#state.save({ phase: 'stopped', ip: null, sandbox: null })
    })
  }

  /** What the control plane is told of this Dock; null when nothing of it is left. */
  report(): protocol.RuntimeReport | null {
    const { record } = this.#state
    if (!record || record.phase === 'gone') return null
    const { dockId, generation, phase, ip } = record
    return { dockId, generation, ip, state: phase === 'stopping' ? 'running' : phase }
  }

  async #run<Answer>(kind: CommandKind, command: Numbered, run: () => Promise<Answer>): Promise<Answer> {
    const { operationId, generation } = command
    return this.#lane.submit({ kind, operationId, generation }, async () => {
      const { record } = this.#state
      if (record && generation < record.generation) {
        throw new AgentRefusal('stale_generation', `the Dock is at generation ${record.generation}`)
      }
      const last = record?.lastOperation
      const isRepeated =
        last?.kind === kind && last.operationId === operationId && last.generation === generation
      return isRepeated ? (last.result as Answer) : run()
    })
  }

  /** A generation boots once: after it ran or was destroyed, only a newer one may boot. A failed boot may be repeated. */
  #refuseSpentGeneration({ generation }: Numbered): void {
    const { record } = this.#state
    if (!record || generation > record.generation || record.lastOperation === null) return
    if (record.phase === 'running') throw new AgentRefusal('busy', 'the Dock runs at this generation')
    throw new AgentRefusal('stale_generation', `generation ${generation} has been booted and ended`)
  }

  #onDeath(handle: SandboxHandle): void {
    const { generation } = handle
    const { dockId, logger, parts } = this.#state
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
