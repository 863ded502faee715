/** A Dock's own variables, set at create or branch. They are sealed in its row and opened for each boot. */
import { limits, ServiceError, variablesBytes } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../../../database/database.ts'
import type { Sealer } from '../../../../sealing/index.ts'
import { organizationOwner } from '../../core/sealed-columns.ts'

export type Variables = Readonly<Record<string, string>>
type Target = { organizationId: string; dockId: string }

const placeOf = (dockId: string) => ({ table: 'docks', column: 'env_sealed', rowId: dockId })

/** Seals the variables for storage. Returns null if there are none. */
export async function sealVariables(
  sealer: Sealer,
  { organizationId, dockId }: Target,
  variables: Variables,
): Promise<string | null> {
  return Object.keys(variables).length === 0
    ? null
    : sealer.seal(organizationOwner(organizationId), placeOf(dockId), JSON.stringify(variables))
}

/** Returns the Dock's variables, empty if it has none. */
export async function openVariables(
  { db, sealer }: { db: Db; sealer: Sealer },
  { organizationId, dockId }: Target,
): Promise<Variables> {
  const result = await sql<{ sealed: string | null }>`select env_sealed as sealed from docks
    where id = ${dockId} and organization_id = ${organizationId}`.execute(db)
  const sealed = result.rows[0]?.sealed ?? null
  if (sealed === null) return {}
  return JSON.parse(
    await sealer.open(organizationOwner(organizationId), placeOf(dockId), sealed),
  ) as Variables
}

/**
 * Returns the variables of a branch: those of its source, overridden by the given ones. Throws `validation_error` if they
 * exceed the limits together.
 */
export function mergeVariables(source: Variables, given: Variables): Variables {
  const merged = { ...source, ...given }
  const { dockVariablesMax: countMax, dockVariablesBytesMax: bytesMax } = limits
  if (Object.keys(merged).length > countMax || variablesBytes(merged) > bytesMax)
    throw new ServiceError('validation_error', {
      message: `env: together with the source's variables, at most ${countMax} variables and ${bytesMax} bytes are allowed.`,
    })
  return merged
}
