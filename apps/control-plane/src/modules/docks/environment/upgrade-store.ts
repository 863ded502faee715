/** SQL of an upgrade: the Docks that are pinned to an older version of an Environment, and their move to a newer one. */
import type { DockState } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { LeaseLost, type OperationRow } from '../../../engine/index.ts'
import { bindingColumns } from '../core/environment-gate.ts'

/** The version that Docks are moved to. */
export type UpgradeTarget = { organizationId: string; environmentId: string; version: number }

export type OlderDock = {
  id: string
  state: DockState
  generation: number
  hostId: string | null
  noEnv: boolean
  /** The version that it is pinned to. */
  version: number
}

/** What an upgrade keeps in its operation's row. */
export type UpgradeData = {
  version: number
  /** In order, so that the same choice reads the same. Null: every Dock that is pinned to an older version. */
  dockIds: string[] | null
  /** Docks that may have a part of the version, with the generation that they were given it at. */
  begun?: Record<string, number>
}

export function upgradeData(operation: OperationRow): UpgradeData {
  return operation.data as unknown as UpgradeData
}

/** Of an operation's row: it is to move the same Docks to the same version, however far it has come. */
export function isSameUpgrade(data: Omit<UpgradeData, 'begun'>): RawBuilder<boolean> {
  return sql<boolean>`data - 'begun' = ${JSON.stringify(data)}::jsonb`
}

/** Of the alias `d`. */
const isOlder = ({ organizationId, environmentId, version }: UpgradeTarget): RawBuilder<boolean> =>
  sql<boolean>`(d.organization_id = ${organizationId} and d.environment_id = ${environmentId}
    and d.environment_version < ${version})`

/** Docks that are pinned to an older version: these, or all where null. */
export async function olderDocks(
  db: Db,
  target: UpgradeTarget,
  dockIds: readonly string[] | null,
): Promise<OlderDock[]> {
  return (
    await sql<OlderDock>`select d.id, d.state, d.generation, d.host_id as "hostId", d.no_env as "noEnv",
        d.environment_version as version from docks d
      where ${isOlder(target)} ${dockIds === null ? sql`` : sql`and d.id = any(${dockIds}::uuid[])`}
      order by d.id`.execute(db)
  ).rows
}

/** How many of these Docks use the Environment, at whatever version. */
export async function countUsers(
  db: Db,
  { organizationId, environmentId }: Omit<UpgradeTarget, 'version'>,
  dockIds: readonly string[],
): Promise<number> {
  return (
    await sql<{ count: number }>`select count(*)::int as count from docks
      where organization_id = ${organizationId} and environment_id = ${environmentId}
        and id = any(${dockIds}::uuid[])`.execute(db)
  ).rows[0]!.count
}

const changeDock = async (
  db: Db,
  target: UpgradeTarget,
  dock: OlderDock,
  options: { given: RawBuilder<boolean>; set: RawBuilder<unknown>; now: Date },
): Promise<boolean> => {
  const changed = await sql`with b as (select ${bindingColumns} from environments e
      join environment_versions v on v.environment_id = e.id and v.version = ${target.version}
      where e.id = ${target.environmentId} and e.organization_id = ${target.organizationId})
    update docks d set ${options.set}, updated_at = ${options.now},
      marks = case when not d.no_env and not b."environmentId" = any(d.marks)
          and (b."envMarks" or b."envPasses" and d.setup_status in ('pending', 'running'))
        then d.marks || b."environmentId" else d.marks end
    from b where d.id = ${dock.id} and ${isOlder(target)} and d.generation = ${dock.generation}
      and ${options.given}`.execute(db)
  return changed.numAffectedRows === 1n
}

const asRead = ({ state }: OlderDock): RawBuilder<boolean> => sql<boolean>`d.state = ${state}`

/** Bars whom the version bars, before anything of it is given to the Dock. False when the Dock has changed since. */
export function barBefore(db: Db, target: UpgradeTarget, dock: OlderDock, now: Date): Promise<boolean> {
  return changeDock(db, target, dock, {
    given: asRead(dock),
    set: sql`env_passes = d.env_passes or (b."envPasses" and not d.no_env)`,
    now,
  })
}

/**
 * Pins a Dock to the version. False when it has changed since: one that was given the version live may be in another
 * state by now, but has not booted again.
 */
export function pinDock(
  db: Db,
  target: UpgradeTarget,
  dock: OlderDock,
  { isGiven, now }: { isGiven: boolean; now: Date },
): Promise<boolean> {
  return changeDock(db, target, dock, {
    given: isGiven ? sql<boolean>`true` : asRead(dock),
    set: sql`environment_version = ${target.version}, env_passes = b."envPasses" and not d.no_env`,
    now,
  })
}

/** Remembers, before a delivery, that the Dock may have a part from now on: also for a process that takes this over. */
export async function noteDelivery(
  db: Db,
  owner: string,
  operation: OperationRow,
  { id, generation }: OlderDock,
): Promise<void> {
  const data = upgradeData(operation)
  data.begun = { ...data.begun, [id]: generation }
  const noted = await sql`update operations
    set data = jsonb_set(data, '{begun}', coalesce(data->'begun', '{}') || jsonb_build_object(${id}::text, ${generation}::int))
    where id = ${operation.id} and lease_owner = ${owner} and status <> 'completed'`.execute(db)
  if (noted.numAffectedRows !== 1n) throw new LeaseLost(operation.id)
}

export function mayHavePart(operation: OperationRow, { id, generation }: OlderDock): boolean {
  return upgradeData(operation).begun?.[id] === generation
}

/** Forgets it once the Dock has all of a version; in the row with the operation's next record. */
export function deliveryIsWhole(operation: OperationRow, { id }: OlderDock): void {
  delete upgradeData(operation).begun?.[id]
}
