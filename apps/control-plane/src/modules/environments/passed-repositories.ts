/** The repositories that a Dock has from its Environment, for who asks in the Dock's name. */
import { sql } from 'kysely'
import type { Repository } from './bundle.ts'
import { openBundle } from './bundle-sealing.ts'
import type { EnvironmentContext } from './environment-context.ts'

/** A boot of a Dock as a host reports it. */
export type BootedDock = { dockId: string; hostId: string; generation: number }

/** None unless the Dock is in this very boot on this host, and the version that it is pinned to passes them on. */
export const passedRepositories = async (
  { db, sealer }: Pick<EnvironmentContext, 'db' | 'sealer'>,
  { dockId, hostId, generation }: BootedDock,
): Promise<{ organizationId: string; repositories: readonly Repository[] } | null> => {
  const { rows } = await sql<{ organizationId: string; versionId: string; sealed: string | null }>`
    select d.organization_id as "organizationId", v.id as "versionId", v.bundle_sealed as sealed
    from docks d join environment_versions v
      on v.environment_id = d.environment_id and v.version = d.environment_version
    where d.id = ${dockId} and d.host_id = ${hostId} and d.generation = ${generation} and not d.no_env
      and v.organization_id = d.organization_id and v.pass_github and not v.safe_for_third_parties
      and v.repositories <> '[]'`.execute(db)
  const found = rows[0]
  if (!found) return null
  const { organizationId, versionId, sealed } = found
  return {
    organizationId,
    repositories: (await openBundle(sealer, { organizationId, versionId }, sealed)).repositories,
  }
}
