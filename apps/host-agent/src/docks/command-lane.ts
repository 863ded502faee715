/**
 * One Dock's commands, one after the other. A command that is repeated while it is under way joins it; one that
 * conflicts is refused with `busy`; a destroy, or a command of a newer generation, waits for its turn. What a command
 * leaves to be done after its answer is still part of its turn.
 */
import { AgentRefusal } from './agent-refusal.ts'

export type CommandKind = 'start' | 'stop' | 'capture' | 'destroy'
export type Command = { kind: CommandKind; operationId: string; generation: number }

/** Takes work that only the next command has to wait for. */
export type DoAfterwards = (work: () => Promise<void>) => void

type Pending = { command: Command; answer: Promise<unknown> }

const isSame = (a: Command, b: Command) =>
  a.kind === b.kind && a.operationId === b.operationId && a.generation === b.generation

export class CommandLane {
  readonly #pending = new Set<Pending>()
  #tail: Promise<unknown> = Promise.resolve()

  /** Whether a command is under way or waits. */
  get isBusy(): boolean {
    return this.#pending.size > 0
  }

  /** Runs `run` when it is this command's turn. Two same commands must answer the same type. */
  submit<Answer>(command: Command, run: (afterwards: DoAfterwards) => Promise<Answer>): Promise<Answer> {
    for (const other of this.#pending) {
      if (isSame(other.command, command)) return other.answer as Promise<Answer>
    }
    for (const { command: other } of this.#pending) {
      if (command.generation < other.generation) {
        return Promise.reject(
          new AgentRefusal('stale_generation', `generation ${other.generation} is under way`),
        )
      }
      if (command.kind !== 'destroy' && command.generation === other.generation) {
        return Promise.reject(new AgentRefusal('busy', `operation ${other.operationId} is under way`))
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

  /** Runs work of the agent's own between two commands. */
  exclusively<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const answer = this.#tail.then(work)
    this.#tail = answer.catch(() => undefined)
    return answer
  }
}
