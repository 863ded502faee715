/**
 * Brings a running Dock the repositories that its Environment passes on: clones what is not there yet, then runs the
 * setup scripts of what was cloned. A failure is told in the Dock's row and fails no start; the next boot tries again.
 */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../../database/database.ts'
import { type HostGateway, HostRefused, type SetupOutcome } from '../../../hosts/index.ts'
import { whileHostReturns } from '../../core/host-patience.ts'
import type { SecretsOf } from '../variables/dock-secrets.ts'
import { maskSecrets } from '../variables/mask-secrets.ts'
import type { BootedDock, PassedRepositories, RepositoryToClone } from './passed-repositories.ts'
import { setupScriptOf } from './setup-scripts.ts'

/** Clones that have not ended by then are ended, and so are the setup scripts. */
export const repositoryMinutesMax = 10
const timeoutMs = repositoryMinutesMax * 60_000
const errorLengthMax = 4096

export type CloneResult = {
  failed: boolean
  /** Whether anything was cloned that had not been there. */
  changed: boolean
  /** Ids of those whose setup scripts are to be run now. */
  toSetUp: string[]
}

export type DockRepositories = {
  /** Whether the Dock has any. */
  any(dock: BootedDock): Promise<boolean>
  clone(operationId: string, dock: BootedDock): Promise<CloneResult>
  /** Runs setup scripts, once for an operation however often it is called; answers whether they succeeded. */
  setUp(operationId: string, dock: BootedDock, ids: readonly string[]): Promise<boolean>
  /** Both, of a Dock that is ready. */
  bring(operationId: string, dock: BootedDock): Promise<void>
}

/** Refusals that are about the repositories. All else is the sandbox's end, or the host's. */
const isOwnFailure = (error: unknown): error is HostRefused =>
  error instanceof HostRefused && (error.code === 'failed' || error.code === 'invalid')

const explain = ({ exitCode, timedOut, output }: SetupOutcome): string => {
  const reason = timedOut
    ? `Setup scripts of repositories: no end after ${repositoryMinutesMax} minutes`
    : `Setup scripts of repositories: exit code ${exitCode}`
  return [reason, output.trim()].filter(Boolean).join('\n')
}

export function createDockRepositories(options: {
  db: Db
  clock: Clock
  gateway: HostGateway
  passed: PassedRepositories
  secretsOf: SecretsOf
}): DockRepositories {
  const { db, clock, gateway, passed } = options

  const toClone = async (dock: BootedDock): Promise<readonly RepositoryToClone[]> =>
    (await passed(dock))?.repositories ?? []

  const tellFailure = async (dock: BootedDock, text: string): Promise<void> => {
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
        const { failed, cloned, toSetUp } = await whileHostReturns(gateway, hostId, () =>
          gateway.cloneRepositories(hostId, dockId, body),
        )
        const changed = cloned.length > 0 || toSetUp.length > 0
        if (failed.length === 0) return { failed: false, changed, toSetUp }
        const nameOf = (id: string) => wanted.find((each) => each.id === id)?.name ?? id
        await tellFailure(
          dock,
          failed.map(({ id, reason }) => `${nameOf(id)} could not be cloned: ${reason}`).join('\n'),
        )
        return { failed: true, changed, toSetUp: [] }
      } catch (error) {
        if (!isOwnFailure(error)) throw error
        await tellFailure(dock, 'The host could not clone the repositories.')
        return { failed: true, changed: false, toSetUp: [] }
      }
    },

    setUp: async (operationId, dock, ids) => {
      const script = setupScriptOf((await toClone(dock)).filter(({ id }) => ids.includes(id)))
      if (script === '') return true
      const { dockId, hostId, generation } = dock
      const body = { operationId, generation, script, timeoutMs }
      try {
        const outcome = await whileHostReturns(gateway, hostId, () => gateway.setup(hostId, dockId, body))
        if (outcome.exitCode === 0 && !outcome.timedOut) return true
        await tellFailure(dock, explain(outcome))
      } catch (error) {
        if (!isOwnFailure(error)) throw error
        await tellFailure(dock, 'The host could not run the setup scripts of the repositories.')
      }
      return false
    },

    bring: async (operationId, dock) => {
      const { failed, changed, toSetUp } = await self.clone(operationId, dock)
      if (failed || !changed || !(await self.setUp(operationId, dock, toSetUp))) return
      const { dockId, generation } = dock
      await sql`update docks set setup_status = 'done', setup_error = null, updated_at = ${clock.now()}
        where id = ${dockId} and generation = ${generation} and setup_status = 'failed'`.execute(db)
    },
  }
  return self
}
