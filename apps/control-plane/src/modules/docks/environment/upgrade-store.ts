/** SQL of upgrades: finds Docks that are pinned to an older version of an Environment, and pins them to a newer one. */
import { type DockState, uuid } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import * as z from 'zod'
import type { Db } from '../../../database/database.ts'
import { addToOperationData, firstVersion, type OperationRow } from '../../../engine/index.ts'
import { bindingColumns } from '../core/environment-gate.ts'

/** The Environment version to which Docks are moved. */
export type UpgradeTarget = { organizationId: string; environmentId: string; version: number }

export type OlderDock = {
  id: string
  state: DockState
  generation: number
  hostId: string | null
  noEnv: boolean
  /** The version to which it is pinned. */
  version: number
}

/** What an upgrade keeps in its operation's row. */
export const upgradeData = z.strictObject({
  dataVersion: firstVersion,
  /** The Environment version to which Docks are moved. */
  version: z.int(),
  /** Sorted, so that equal sets compare equal. Null: every Dock that is pinned to an older version. */
  dockIds: z.array(uuid).nullable(),
  /** Docks that may have only part of a version, with the generation in which it was applied. */
  begun: z.record(z.string(), z.int()).optional(),
})
export type UpgradeData = z.infer<typeof upgradeData>
export type UpgradeOperation = OperationRow<UpgradeData>

/** SQL predicate for an operation's row: true if it moves the same Docks to the same version. Progress is ignored. */
export function isSameUpgrade({
  version,
  dockIds,
}: Pick<UpgradeData, 'version' | 'dockIds'>): RawBuilder<boolean> {
  return sql<boolean>`data - '{begun,dataVersion}'::text[] = ${JSON.stringify({ version, dockIds })}::jsonb`
}

/** SQL predicate for the alias `d`. */
const isOlder = ({ organizationId, environmentId, version }: UpgradeTarget): RawBuilder<boolean> =>
  sql<boolean>`(d.organization_id = ${organizationId} and d.environment_id = ${environmentId}
    and d.environment_version < ${version})`

/** Returns those of the Docks (null: of all Docks) that are pinned to an older version. */
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

/** Returns how many of these Docks use the Environment, at any version. */
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

/**
 * Puts the access restrictions of the new version into force before it is applied. Returns false if the Dock has changed since
 * it was read.
 */
export function restrictBeforeApply(
  db: Db,
  target: UpgradeTarget,
  dock: OlderDock,
  now: Date,
): Promise<boolean> {
  return changeDock(db, target, dock, {
    given: asRead(dock),
    set: sql`env_passes = d.env_passes or (b."envPasses" and not d.no_env)`,
    now,
  })
}

/**
 * Pins a Dock to the version. Returns false if the Dock has changed since it was read. With `isGiven` (the running Dock
 * has received the version), its state may have changed, but not its generation.
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

/**
 * Records, before a version is applied, that the Dock may have only part of a version from now on. It is saved at once, so that a
 * process that resumes the operation knows it. Throws {@link LeaseLost}.
 */
export async function recordApply(
  db: Db,
  owner: string,
  operation: UpgradeOperation,
  { id, generation }: OlderDock,
): Promise<void> {
  const { data } = operation
  data.begun = { ...data.begun, [id]: generation }
  await addToOperationData(db, owner, operation.id, 'begun', { [id]: generation })
}

/** True if an interrupted attempt may have left the Dock with only part of a version. */
export function mayHavePartialVersion(operation: UpgradeOperation, { id, generation }: OlderDock): boolean {
  return operation.data.begun?.[id] === generation
}

/** Clears the record, in memory, when the Dock has a complete version. The operation's next save writes it. */
export function clearApply(operation: UpgradeOperation, { id }: OlderDock): void {
  delete operation.data.begun?.[id]
}
