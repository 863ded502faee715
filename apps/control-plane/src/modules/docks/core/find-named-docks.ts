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
  /** True if it was found by its id or full name. */
  isUnique: boolean
  /** The first of the given people who may run commands in it. */
  userId: string
}

/** More than this many Docks of the same name are not listed to the person. */
const namesakesMax = 20

/**
 * Returns the Docks of this name that one of these people may run commands in, at most 20. The one with this id or full
 * name comes first, whatever others are called. A short name can match Docks of several workspaces.
 */
export async function findNamedDocks(db: Db, userIds: readonly string[], name: string): Promise<NamedDock[]> {
  if (name === '' || userIds.length === 0) return []
  const lower = name.toLowerCase()
  // Names of Docks may have dots, slugs have none.
  const [last = '', beforeLast = ''] = name.split('.').reverse()
  const [beforeOne, beforeTwo] = [withoutEnd(name, 1), withoutEnd(name, 2)]
  const isFull = sql<boolean>`(d.name = ${beforeTwo} and w.slug = ${beforeLast} and o.slug = ${last})`
  const isNamed = isUuid(lower)
    ? sql`d.id = ${lower}`
    : sql`d.name = any(${[name, beforeOne, beforeTwo]}::text[])
        and (d.name = ${name} or (d.name = ${beforeOne} and w.slug = ${last}) or ${isFull})`
  const isUnique = isUuid(lower) ? sql<boolean>`true` : isFull
  return (
    await sql<NamedDock>`
      select d.id, d.organization_id as "organizationId", d.name || '.' || w.slug || '.' || o.slug as "fullName",
        ${isUnique} as "isUnique", (array_agg(m.user_id order by p.at))[1] as "userId"
      from unnest(${[...userIds]}::uuid[]) with ordinality as p (user_id, at)
      join memberships m on m.user_id = p.user_id
      join organizations o on o.id = m.organization_id
      join workspaces w on w.organization_id = m.organization_id
      join docks d on d.workspace_id = w.id
      where ${isNamed} and not ${refusesSecrets}
      group by d.id, w.id, o.id
      order by "isUnique" desc, d.name = ${name} desc, d.created_at, d.id limit ${namesakesMax}`.execute(db)
  ).rows
}

/** Returns the name without the given number of parts at its end; if nothing is left, a text that is no Dock's name. */
const withoutEnd = (name: string, parts: number): string => name.split('.').slice(0, -parts).join('.')
