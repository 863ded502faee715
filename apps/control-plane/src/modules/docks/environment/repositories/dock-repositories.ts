/**
 * Clones the repositories that an Environment passes into a running Dock, then runs the setup scripts of those newly
 * cloned. A failure is recorded in the Dock's row and does not fail the start. The next boot tries again.
 */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../../database/database.ts'
import { type HostGateway, HostRefused, type SetupOutcome } from '../../../hosts/index.ts'
import { retryWhenHostReconnects } from '../../core/retry-when-host-reconnects.ts'
import type { SecretsOf } from '../variables/dock-secrets.ts'
import { maskSecrets } from '../variables/mask-secrets.ts'
import type { BootedDock, ListRepositoriesToClone, RepositoryToClone } from './repositories-to-clone.ts'
import { setupScriptOf } from './setup-scripts.ts'

/** Time limit of the clones, and of the setup scripts. */
export const repositoryMinutesMax = 10
const timeoutMs = repositoryMinutesMax * 60_000
const errorLengthMax = 4096

export type CloneResult = {
  failed: boolean
  /** True if any repository was newly cloned, or has a setup script that has not run. */
  changed: boolean
  /** Ids of the repositories whose setup scripts must run now. */
  toSetUp: string[]
}

export type DockRepositories = {
  /** Returns true if the Dock's Environment passes repositories. */
  any(dock: BootedDock): Promise<boolean>
  /** Clones the repositories that are missing. */
  clone(operationId: string, dock: BootedDock): Promise<CloneResult>
  /** Runs setup scripts, once per operation however often it is called. Returns true if they succeeded. */
  setUp(operationId: string, dock: BootedDock, ids: readonly string[]): Promise<boolean>
  /** Clones and sets up the repositories of a ready Dock. Clears an earlier `failed` status if it succeeds. */
  cloneAndSetUp(operationId: string, dock: BootedDock): Promise<void>
}

/** True if the repositories caused the refusal. Any other error means that the sandbox ended or the host failed. */
const isRepositoryFailure = (error: unknown): error is HostRefused =>
  error instanceof HostRefused && (error.code === 'failed' || error.code === 'invalid')

const explain = ({ exitCode, timedOut, output }: SetupOutcome): string => {
  const reason = timedOut
    ? `Setup scripts of repositories: timed out after ${repositoryMinutesMax} minutes`
    : `Setup scripts of repositories: exit code ${exitCode}`
  return [reason, output.trim()].filter(Boolean).join('\n')
}

export function createDockRepositories(options: {
  db: Db
  clock: Clock
  gateway: HostGateway
  passed: ListRepositoriesToClone
  secretsOf: SecretsOf
}): DockRepositories {
  const { db, clock, gateway, passed } = options

  const toClone = async (dock: BootedDock): Promise<readonly RepositoryToClone[]> =>
    (await passed(dock))?.repositories ?? []

  const recordFailure = async (dock: BootedDock, text: string): Promise<void> => {
    const found = await passed(dock)
    if (!found) return
    const { dockId, generation } = dock
    const { organizationId } = found
    const secrets = await options.secretsOf({ organizationId, dockId })
    const error = maskSecrets(text, secrets).slice(0, errorLengthMax)
    await sql`update docks set setup_status = 'failed', setup_error = ${error}, setup_script_sealed = null,
        updated_at = ${clock.now()}
      where id = ${dockId} and organization_id = ${organizationId} and generation = ${generation}`.execute(db)
  }

  const self: DockRepositories = {
    any: async (dock) => (await passed(dock)) !== null,

    clone: async (operationId, dock) => {
      const { dockId, hostId, generation } = dock
      const wanted = await toClone(dock)
      if (wanted.length === 0) return { failed: false, changed: false, toSetUp: [] }
      const repositories = wanted.map(({ setupScript, ...repository }) => ({
        ...repository,
        hasSetupScript: setupScript !== null,
      }))
      const body = { operationId, generation, repositories, timeoutMs }
      try {
        const { failed, cloned, toSetUp } = await retryWhenHostReconnects(gateway, hostId, () =>
          gateway.cloneRepositories({ hostId, dockId }, body),
        )
        const changed = cloned.length > 0 || toSetUp.length > 0
        if (failed.length === 0) return { failed: false, changed, toSetUp }
        const nameOf = (id: string) => wanted.find((each) => each.id === id)?.name ?? id
        await recordFailure(
          dock,
          failed.map(({ id, reason }) => `${nameOf(id)} could not be cloned: ${reason}`).join('\n'),
        )
        return { failed: true, changed, toSetUp: [] }
      } catch (error) {
        if (!isRepositoryFailure(error)) throw error
        await recordFailure(dock, 'The host could not clone the repositories.')
        return { failed: true, changed: false, toSetUp: [] }
      }
    },

    setUp: async (operationId, dock, ids) => {
      const script = setupScriptOf((await toClone(dock)).filter(({ id }) => ids.includes(id)))
      if (script === '') return true
      const { dockId, hostId, generation } = dock
      const body = { operationId, generation, script, timeoutMs }
      try {
        const outcome = await retryWhenHostReconnects(gateway, hostId, () =>
          gateway.setup({ hostId, dockId }, body),
        )
        if (outcome.exitCode === 0 && !outcome.timedOut) return true
        await recordFailure(dock, explain(outcome))
      } catch (error) {
        if (!isRepositoryFailure(error)) throw error
        await recordFailure(dock, 'The host could not run the setup scripts of the repositories.')
      }
      return false
    },

    cloneAndSetUp: async (operationId, dock) => {
      const { failed, changed, toSetUp } = await self.clone(operationId, dock)
      if (failed || !changed || !(await self.setUp(operationId, dock, toSetUp))) return
      const { dockId, generation } = dock
      await sql`update docks set setup_status = 'done', setup_error = null, updated_at = ${clock.now()}
        where id = ${dockId} and generation = ${generation} and setup_status = 'failed'`.execute(db)
    },
  }
  return self
}
