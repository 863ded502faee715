/** Git connections of Docks that wait for the control plane: it learns of them by an event and takes them by CONNECT. */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Clock, Emitter } from '@dock/foundation'
import type { GitConnected } from '@dock/host-protocol'

type Events = Pick<Emitter<GitConnected>, 'emit'>

const waitMs = 30_000
/** Limit for all waiting connections together. A Dock may always have `ownOfDock` waiting, whatever others do. */
const waitingMax = 1_000
const ownOfDock = 4

export class WaitingConnections {
  readonly #events: Events
  readonly #clock: Clock
  readonly #waiting = new Map<string, { dockId: string; take: () => Socket }>()

  constructor({ events, clock }: { events: Events; clock: Clock }) {
    this.#events = events
    this.#clock = clock
  }

  /** Announces a connection. Closes it if the control plane does not take it in time. */
  add(dock: { dockId: string; generation: number }, socket: Socket): void {
    if (this.#waiting.size >= waitingMax && this.#countOf(dock.dockId) >= ownOfDock)
      return void socket.destroy()
    const connectionId = randomUUID()
    const forget = (): void => {
      cancel()
      socket.off('close', forget)
      this.#waiting.delete(connectionId)
    }
    const cancel = this.#clock.after(waitMs, () => socket.destroy())
    socket.once('close', forget)
    const take = (): Socket => {
      forget()
      return socket
    }
    this.#waiting.set(connectionId, { dockId: dock.dockId, take })
    this.#events.emit({ type: 'git.connected', connectionId, ...dock })
  }

  /** Returns a waiting connection of this Dock to the first caller, or null if it is gone. */
  take(dockId: string, connectionId: string): Socket | null {
    const found = this.#waiting.get(connectionId)
    return found?.dockId === dockId ? found.take() : null
  }
  #countOf(dockId: string): number {
    return [...this.#waiting.values()].filter((each) => each.dockId === dockId).length
  }
}
