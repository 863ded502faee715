/** Environments: variables, files and repositories that Docks start with. `ref` is a name or an id. */

import type { BodyOf } from './call-types.ts'
import type { Client } from './client.ts'
import { firstOrganization } from './connect.ts'
import type { Environment } from './generated/route-types.ts'
import type { OfOrganization } from './request-options.ts'

export class Environments {
  readonly #client: Client
  constructor(client: Client) {
    this.#client = client
  }

  async list(options: OfOrganization = {}): Promise<Environment[]> {
    const { signal } = options
    return this.#client.call('listEnvironments', { query: await this.#query(options), signal })
  }

  /** Creates an Environment; it starts empty. */
  async create(
    name: string,
    { secretsAccess, ...options }: OfOrganization & Pick<BodyOf<'createEnvironment'>, 'secretsAccess'> = {},
  ): Promise<Environment> {
    const body = { ...(await this.#query(options)), name, secretsAccess }
    return this.#client.call('createEnvironment', { body, signal: options.signal })
  }

  async get(ref: string, options: OfOrganization = {}): Promise<Environment> {
    return this.#client.call('readEnvironment', await this.#named(ref, options))
  }

  async update(
    ref: string,
    change: BodyOf<'updateEnvironment'>,
    options: OfOrganization = {},
  ): Promise<Environment> {
    return this.#client.call('updateEnvironment', { ...(await this.#named(ref, options)), body: change })
  }

  async delete(ref: string, options: OfOrganization = {}): Promise<void> {
    await this.#client.call('deleteEnvironment', await this.#named(ref, options))
  }

  /** Sets a variable. Docks get it when they start, or after `client.call('upgradeEnvironment', …)`. */
  async setVariable(ref: string, key: string, value: string, options: OfOrganization = {}): Promise<void> {
    await this.#client.call('setEnvironmentVariable', {
      ...(await this.#named(ref, options)),
      body: { key, value },
    })
  }

  async removeVariable(ref: string, key: string, options: OfOrganization = {}): Promise<void> {
    const { query, signal } = await this.#named(ref, options)
    await this.#client.call('removeEnvironmentVariable', { params: { ref, key }, query, signal })
  }

  async #query({ organizationId, signal }: OfOrganization) {
    return { organizationId: organizationId ?? (await firstOrganization(this.#client, signal)) }
  }

  async #named(ref: string, options: OfOrganization) {
    return { params: { ref }, query: await this.#query(options), signal: options.signal }
  }
}
