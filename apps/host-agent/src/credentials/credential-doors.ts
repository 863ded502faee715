/** The credential doors of this host's Docks: one each for those that have repositories, gone before its address is. */
import type { Logger } from '@dock/foundation'
import type { CredentialAnswer, GitQuestion } from '@dock/host-protocol'
import type { Networks } from '../docks/seams.ts'
import { type CredentialDoor, openCredentialDoor } from './credential-door.ts'

type Credential = CredentialAnswer['credential']

export type OpenDoor = (options: Parameters<typeof openCredentialDoor>[0]) => Promise<CredentialDoor>

type DoorsOptions = {
  logger: Logger
  ask(dockId: string, question: GitQuestion): Promise<Credential>
  /** Instead of real listeners: tests only. */
  openDoor?: OpenDoor | undefined
}

export class CredentialDoors {
  readonly #doors = new Map<string, Promise<CredentialDoor>>()
  readonly #options: DoorsOptions

  constructor(options: DoorsOptions) {
    this.#options = options
  }

  /** Opens the Dock's door at its gateway address, unless it is open. */
  async open(dockId: string, address: string): Promise<void> {
    const { logger, ask, openDoor = openCredentialDoor } = this.#options
    const known = this.#doors.get(dockId)
    if (known) {
      await known
      return
    }
    const door = openDoor({ address, logger, ask: (question) => ask(dockId, question) })
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

  /** The networks, with each Dock's door closed before its addresses can become another's. */
  guarding(networks: Networks): Networks {
    return {
      ...networks,
      destroy: async (dockId) => {
        await this.close(dockId)
        await networks.destroy(dockId)
      },
    }
  }
}
