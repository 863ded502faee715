/** The git doors of this host: one for each Dock with repositories, closed before the Dock's address is released. */
import type { Socket } from 'node:net'
import type { Clock, Logger } from '@dock/foundation'
import type { Networks } from '../networks.ts'
import { type GitDoor, openGitDoor } from './git-door.ts'

export type OpenDoor = (options: Parameters<typeof openGitDoor>[0]) => Promise<GitDoor>

type DoorsOptions = {
  logger: Logger
  clock: Clock
  /** Takes over a git connection of that Dock. */
  take(dockId: string, socket: Socket): void
  /** Replaces the real listeners in tests. */
  openDoor?: OpenDoor | undefined
}

export class GitDoors {
  readonly #doors = new Map<string, Promise<GitDoor>>()
  readonly #options: DoorsOptions

  constructor(options: DoorsOptions) {
    this.#options = options
  }

  /** Opens the Dock's door at its gateway address unless it is open. */
  async open(dockId: string, address: string): Promise<void> {
    const { logger, clock, take, openDoor = openGitDoor } = this.#options
    const known = this.#doors.get(dockId)
    if (known) {
      await known
      return
    }
    const door = openDoor({ address, logger, clock, take: (socket) => take(dockId, socket) })
    this.#doors.set(dockId, door)
    door.catch(() => {
      if (this.#doors.get(dockId) === door) this.#doors.delete(dockId)
    })
    await door
  }

  async close(dockId: string): Promise<void> {
    const door = this.#doors.get(dockId)
    this.#doors.delete(dockId)
    await door?.then(
      (opened) => opened.close(),
      () => undefined,
    )
  }

  /** Wraps the networks so that a Dock's door is closed before its addresses can be reused. */
  wrapNetworks(networks: Networks): Networks {
    return {
      ...networks,
      destroy: async (dockId) => {
        await this.close(dockId)
        await networks.destroy(dockId)
      },
    }
  }
}
