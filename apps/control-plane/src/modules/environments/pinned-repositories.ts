/**
 * The repositories that an Environment passes to a Dock. They are cloned into the Dock, and the Dock may access them.
 */
import { sql } from 'kysely'
import type { BootedDock } from '../docks/index.ts'
import { folderOf, type Repository } from './bundle.ts'
import { openBundle } from './bundle-sealing.ts'
import type { EnvironmentContext } from './environment-context.ts'
import { cloneUrl, doorPathOf, type GitServers } from './git-servers.ts'

export type PinnedRepositories = {
  organizationId: string
  repositories: readonly Repository[]
}

/**
 * Returns the repositories of the version that the Dock is pinned to. Returns null if the version passes none, or if
 * the Dock is no longer in this boot (generation) on this host.
 */
export async function readPinnedRepositories(
  { db, sealer }: Pick<EnvironmentContext, 'db' | 'sealer'>,
  { dockId, hostId, generation }: BootedDock,
): Promise<PinnedRepositories | null> {
  const { rows } = await sql<{ organizationId: string; versionId: string; sealed: string | null }>`
    select d.organization_id as "organizationId", v.id as "versionId", v.bundle_sealed as sealed
    from machines d join environment_versions v
      on v.environment_id = d.environment_id and v.version = d.environment_version
    where d.id = ${dockId} and d.host_id = ${hostId} and d.generation = ${generation} and not d.no_env
      and v.organization_id = d.organization_id and v.pass_github and not v.safe_for_third_parties
      and v.repositories <> '[]'`.execute(db)
  const found = rows[0]
  if (!found) return null
  const { organizationId, versionId, sealed } = found
  const { repositories } = await openBundle(sealer, { organizationId, versionId }, sealed)
  return { organizationId, repositories }
}

/** Returns the same repositories in the form that the clone step needs. */
export async function listRepositoriesToClone(
  context: Pick<EnvironmentContext, 'db' | 'sealer'>,
  servers: GitServers,
  dock: BootedDock,
) {
  const passed = await readPinnedRepositories(context, dock)
  return (
    passed && {
      ...passed,
      repositories: passed.repositories.map((repository) => ({
        id: repository.id,
        name: repository.fullName,
        url: cloneUrl(servers, repository),
        doorPath: doorPathOf(repository),
        folder: folderOf(repository),
        branch: repository.baseBranch,
        setupScript: repository.setupScript || null,
      })),
    }
  )
}
