/** Questions of git in Docks that wait for the control plane's answer: asked by an event, answered by a call. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '@dock/foundation'
import type { CredentialAnswer, GitQuestion } from '@dock/host-protocol'
import type { DockEvents } from '../docks/dock-events.ts'

type Credential = CredentialAnswer['credential']
export type CredentialAsker = { dockId: string; generation: number }

const patienceMs = 30_000
/** Questions that wait in all: with the bound of each Dock, only a control plane that is away reaches it. */
const waitingMax = 1_000

export class CredentialQuestions {
  readonly #events: DockEvents
  readonly #clock: Clock
  readonly #waiting = new Map<string, (credential: Credential) => void>()

  constructor({ events, clock }: { events: DockEvents; clock: Clock }) {
    this.#events = events
    this.#clock = clock
  }

  /** What the Dock may have; null for nothing, and when no answer comes in time. */
  ask(asker: CredentialAsker, question: GitQuestion): Promise<Credential> {
    if (this.#waiting.size >= waitingMax) return Promise.resolve(null)
    const askId = randomUUID()
    return new Promise((resolve) => {
      const settle = (credential: Credential): void => {
        cancel()
        this.#waiting.delete(askId)
        resolve(credential)
      }
      const cancel = this.#clock.after(patienceMs, () => settle(null))
      this.#waiting.set(askId, settle)
      this.#events.emit({ type: 'credential.asked', askId, ...asker, question })
    })
  }

  /** An answer of the control plane. Nobody may wait for it any more. */
  answer(askId: string, { credential }: CredentialAnswer): void {
    this.#waiting.get(askId)?.(credential)
  }
}
