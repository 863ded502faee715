/** Finds Docks by the names that a person types: id, `name`, `name.workspace` or `name.workspace.organization`. */
import { isUuid } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { refusesSecrets } from './environment-gate.ts'

export type NamedDock = {
  id: string
  organizationId: string
  /** `name.workspace.organization`, which names one Dock of the instance. */
  fullName: string
}

/** More than this many Docks of the same name are not listed to the person. */
const namesakesMax = 20

/**
 * Returns the Docks of this name that the person may run commands in, at most 20. A short name can match Docks of several
 * workspaces.
 */
export async function findNamedDocks(db: Db, userId: string, name: string): Promise<NamedDock[]> {
  if (name === '') return []
  const lower = name.toLowerCase()
  const fullName = sql<string>`d.name || '.' || w.slug || '.' || o.slug`
  const isNamed = isUuid(lower)
    ? sql`d.id = ${lower}`
    : sql`(d.name = ${name} or d.name || '.' || w.slug = ${name} or ${fullName} = ${name})`
  return (
    await sql<NamedDock>`
      select d.id, d.organization_id as "organizationId", ${fullName} as "fullName"
      from memberships m
      join organizations o on o.id = m.organization_id
      join docks d on d.organization_id = m.organization_id
      join workspaces w on w.id = d.workspace_id
      where m.user_id = ${userId} and ${isNamed} and not ${refusesSecrets}
      order by d.name = ${name} desc, d.created_at, d.id limit ${namesakesMax}`.execute(db)
  ).rows
}
