/** Looks up the organization of a Dock that a host reports. */
import { sql } from 'kysely'
import type { Db } from '../../../../database/database.ts'
import type { BootedDock } from './repositories-to-clone.ts'

/** Returns null unless the Dock is on this host with this generation. */
export type OrganizationOf = (dock: BootedDock) => Promise<string | null>

export function createOrganizationOf(db: Db): OrganizationOf {
  return async ({ dockId, hostId, generation }) => {
    const { rows } = await sql<{ organizationId: string }>`
      select organization_id as "organizationId" from machines
      where id = ${dockId} and host_id = ${hostId} and generation = ${generation}`.execute(db)
    return rows[0]?.organizationId ?? null
  }
}
