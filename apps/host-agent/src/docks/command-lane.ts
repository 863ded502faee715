/**
 * Runs the commands of one Dock one after the other. A repeated command joins the one in progress. A conflicting command
 * is refused with `busy`. A destroy, or a command of a newer generation, waits. Cleanup that a command defers until after
 * its response still counts as part of the command.
 */
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'

export type CommandKind = 'start' | 'stop' | 'capture' | 'destroy'
export type Command = { kind: CommandKind; operationId: string; generation: number }

/** Defers work until after the response. Only the next command waits for it. */
export type DoAfterwards = (work: () => Promise<void>) => void

type Pending = { command: Command; answer: Promise<unknown> }

const isSame = (a: Command, b: Command) =>
  a.kind === b.kind && a.operationId === b.operationId && a.generation === b.generation

export class CommandLane {
  readonly #pending = new Set<Pending>()
  #tail: Promise<unknown> = Promise.resolve()

  /** True if a command is running or waiting. */
  get isBusy(): boolean {
    return this.#pending.size > 0
  }

  /** Runs `run` after the commands before it. Equal commands must have the same result type. */
  submit<Answer>(command: Command, run: (afterwards: DoAfterwards) => Promise<Answer>): Promise<Answer> {
    for (const other of this.#pending) {
      if (isSame(other.command, command)) return other.answer as Promise<Answer>
    }
    for (const { command: other } of this.#pending) {
      if (command.generation < other.generation) {
        return Promise.reject(
          new AgentRefusal('stale_generation', `a command of generation ${other.generation} is in progress`),
        )
      }
      if (command.kind !== 'destroy' && command.generation === other.generation) {
        return Promise.reject(new AgentRefusal('busy', `operation ${other.operationId} is in progress`))
      }
    }
    const left: (() => Promise<void>)[] = []
    const answer = this.#tail.then(() => run((work) => left.push(work)))
    const leave = async () => {
      for (const work of left) await work()
    }
    this.#tail = answer.then(leave, leave).catch(() => undefined)
    const pending = { command, answer }
    this.#pending.add(pending)
    const forget = () => this.#pending.delete(pending)
    answer.then(forget, forget)
    return answer
  }

  /** Runs the agent's own work between two commands. */
  exclusively<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const answer = this.#tail.then(work)
    this.#tail = answer.catch(() => undefined)
    return answer
  }
}
