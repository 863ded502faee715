/** Connections of git in Docks that wait until the control plane takes them: told by an event, taken by a CONNECT. */
import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Clock } from '@dock/foundation'
import type { DockEvents } from '../docks/dock-events.ts'

const waitMs = 30_000
/** Connections that wait in all, and of each Dock however many wait for others. */
const waitingMax = 1_000
const ownOfDock = 4

export class WaitingConnections {
  readonly #events: DockEvents
  readonly #clock: Clock
  readonly #waiting = new Map<string, { dockId: string; take: () => Socket }>()

  constructor({ events, clock }: { events: DockEvents; clock: Clock }) {
    this.#events = events
    this.#clock = clock
  }

  /** Tells of a connection, and closes it when nobody takes it in time. */
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

  /** The connection of this Dock, for the first who asks; null when it is gone. */
  take(dockId: string, connectionId: string): Socket | null {
    const found = this.#waiting.get(connectionId)
    return found?.dockId === dockId ? found.take() : null
  }
  #countOf(dockId: string): number {
    return [...this.#waiting.values()].filter((each) => each.dockId === dockId).length
  }
}
