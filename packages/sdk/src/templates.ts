/** Templates: Docks that are kept as the start of others. `Dock.create({ from: name })` starts from one. */
import type { Client } from './client.ts'
import { firstOrganization } from './connect.ts'
import type { Template } from './generated/route-types.ts'
import type { Abortable, OfOrganization } from './request-options.ts'
import { untilCompleted } from './until-completed.ts'

export class Templates {
  readonly #client: Client
  constructor(client: Client) {
    this.#client = client
  }

  list({ signal }: Abortable = {}): Promise<Template[]> {
    return this.#client.call('listTemplates', { signal })
  }

  /** Saves a running Dock as a Template. Replaces one with the same name. */
  create(dockId: string, name: string, { signal }: Abortable = {}): Promise<Template> {
    return this.#client.call('createTemplate', { body: { dockId, name }, signal })
  }

  async get(name: string, options: OfOrganization = {}): Promise<Template> {
    return this.#client.call('readTemplate', await this.#named(name, options))
  }

  async delete(name: string, options: OfOrganization = {}): Promise<void> {
    const { operation } = await this.#client.call('deleteTemplate', await this.#named(name, options))
    await untilCompleted(this.#client, operation, options.signal)
  }

  async #named(name: string, { organizationId, signal }: OfOrganization) {
    const id = organizationId ?? (await firstOrganization(this.#client, signal))
    return { params: { name }, query: { organizationId: id }, signal }
  }
}
