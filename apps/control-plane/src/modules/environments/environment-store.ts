/** All SQL for Environments and their versions. Lookups for a caller join the caller's memberships. */
import type { EnvironmentRepository, Role, SecretsAccess } from '@dock/contract'
import { isUuid, newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import type { SealedColumn } from '../../sealing/index.ts'
import { isLinkedAdmin } from '../accounts/index.ts'
import type { RepositoryAdder } from './bundle.ts'
import type { EnvironmentReference } from './environment-context.ts'

export const environmentSealedColumn: SealedColumn = {
  table: 'environment_versions',
  column: 'bundle_sealed',
  rowIdColumn: 'id',
  ownerKind: 'organization',
  ownerColumn: 'organization_id',
}

/** What a version passes to Docks. */
export type Posture = {
  safeForThirdParties: boolean
  passGithub: boolean
  passSecrets: boolean
  passDockCredentials: boolean
  passAgentsCredentials: boolean
}

/** An Environment with its current version. */
export type EnvironmentRow = Posture & {
  id: string
  organizationId: string
  name: string
  isDefault: boolean
  secretsAccess: SecretsAccess
  currentVersion: number
  versionId: string
  sealed: string | null
  varNames: string[]
  files: { path: string; size: number }[]
  repositories: EnvironmentRepository[]
  /** Providers whose repositories Docks can access with the linked account of the admin who added them. */
  connected: string[]
  createdAt: Date
  updatedAt: Date
}

/** An Environment in a list. It omits the sealed bundle, because the bundles of many Environments are megabytes. */
export type ListedEnvironment = Omit<EnvironmentRow, 'sealed'>

export type VisibleEnvironment = EnvironmentRow & { role: Role }

const listedColumns = sql`e.id, e.organization_id as "organizationId", e.name, e.is_default as "isDefault",
  e.secrets_access as "secretsAccess", e.current_version as "currentVersion", v.id as "versionId",
  v.var_names as "varNames", v.files, v.repositories,
  array(select distinct a.provider from jsonb_to_recordset(v.repository_adders) as a(provider text, "userId" uuid)
    where ${isLinkedAdmin({ organizationId: sql`e.organization_id`, userId: sql`a."userId"`, provider: sql`a.provider` })})
    as connected,
  v.safe_for_third_parties as "safeForThirdParties", v.pass_github as "passGithub", v.pass_secrets as "passSecrets",
  v.pass_dock_credentials as "passDockCredentials", v.pass_agents_credentials as "passAgentsCredentials",
  e.created_at as "createdAt", e.updated_at as "updatedAt"`
const columns = sql`${listedColumns}, v.bundle_sealed as sealed`
const current = sql`environments e
  join environment_versions v on v.environment_id = e.id and v.version = e.current_version`

const matchesReference = ({ ref, organizationId }: EnvironmentReference): RawBuilder<boolean> =>
  isUuid(ref)
    ? sql<boolean>`e.id = ${ref}`
    : sql<boolean>`(e.organization_id = ${organizationId ?? null}::uuid and e.name = ${ref})`

/** Returns the Environment and the user's role. Returns null if it does not exist or the user is not a member. */
export async function findEnvironment(
  db: Db,
  userId: string,
  reference: EnvironmentReference,
): Promise<VisibleEnvironment | null> {
  return (
    (
      await sql<VisibleEnvironment>`select ${columns}, m.role from ${current}
      join memberships m on m.organization_id = e.organization_id and m.user_id = ${userId}
      where ${matchesReference(reference)}`.execute(db)
    ).rows[0] ?? null
  )
}

export async function readEnvironmentRow(db: Db, id: string): Promise<EnvironmentRow | null> {
  return (
    (await sql<EnvironmentRow>`select ${columns} from ${current} where e.id = ${id}`.execute(db)).rows[0] ??
    null
  )
}

/** Returns all Environments of an organization, ordered by name. */
export async function listEnvironmentRows(db: Db, organizationId: string): Promise<ListedEnvironment[]> {
  return (
    await sql<ListedEnvironment>`select ${listedColumns} from ${current}
      where e.organization_id = ${organizationId} order by e.name`.execute(db)
  ).rows
}

export type NewVersion = Posture & {
  id: string
  environmentId: string
  organizationId: string
  version: number
  sealed: string | null
  varNames: readonly string[]
  files: readonly { path: string; size: number }[]
  repositories: readonly EnvironmentRepository[]
  repositoryAdders: readonly RepositoryAdder[]
  now: Date
}

export async function insertVersion(tx: Db, version: NewVersion): Promise<void> {
  await sql`insert into environment_versions (id, environment_id, organization_id, version, bundle_sealed, var_names,
      files, repositories, repository_adders, safe_for_third_parties, pass_github, pass_secrets, pass_dock_credentials,
      pass_agents_credentials, created_at)
    values (${version.id}, ${version.environmentId}, ${version.organizationId}, ${version.version}, ${version.sealed},
      ${version.varNames}, ${JSON.stringify(version.files)}, ${JSON.stringify(version.repositories)}, ${JSON.stringify(version.repositoryAdders)},
      ${version.safeForThirdParties}, ${version.passGithub}, ${version.passSecrets}, ${version.passDockCredentials},
      ${version.passAgentsCredentials}, ${version.now})`.execute(tx)
}

/** Increments the current version. Returns false and changes nothing if it is no longer the version that was read. */
export async function takeNextVersion(
  tx: Tx,
  environment: Pick<EnvironmentRow, 'id' | 'currentVersion'>,
  now: Date,
): Promise<boolean> {
  const taken = await sql`update environments set current_version = current_version + 1, updated_at = ${now}
    where id = ${environment.id} and current_version = ${environment.currentVersion}`.execute(tx)
  return taken.numAffectedRows === 1n
}

export async function insertEnvironment(
  tx: Tx,
  row: { id: string; organizationId: string; name: string; secretsAccess: SecretsAccess; now: Date },
): Promise<void> {
  await sql`insert into environments (id, organization_id, name, secrets_access, created_at, updated_at)
    values (${row.id}, ${row.organizationId}, ${row.name}, ${row.secretsAccess}, ${row.now}, ${row.now})`.execute(
    tx,
  )
}

/** Inserts the Environment `default` of a new organization, which is empty at version 1. Returns its id. */
export async function insertDefaultEnvironment(tx: Tx, organizationId: string): Promise<string> {
  const id = newUuid()
  await tx
    .insertInto('environments')
    .values({ id, organization_id: organizationId, name: 'default', is_default: true })
    .execute()
  await tx
    .insertInto('environment_versions')
    .values({ environment_id: id, organization_id: organizationId, version: 1 })
    .execute()
  return id
}

/** Locks the organization's row. Required before changing which Environment is the default. */
export async function lockDefault(tx: Tx, organizationId: string): Promise<void> {
  await sql`select id from organizations where id = ${organizationId} for no key update`.execute(tx)
}

/**
 * Changes the fields that are not versioned. Returns false if the Environment no longer exists. The caller calls
 * {@link lockDefault} first if `isDefault` is set.
 */
export async function updateEnvironmentRow(
  tx: Tx,
  id: string,
  change: { name?: string | undefined; secretsAccess?: SecretsAccess | undefined; isDefault?: true },
  now: Date,
): Promise<boolean> {
  if (change.isDefault)
    await sql`update environments set is_default = false where is_default and organization_id =
      (select organization_id from environments where id = ${id})`.execute(tx)
  const changed =
    await sql`update environments set updated_at = ${now}, name = coalesce(${change.name ?? null}, name),
    secrets_access = coalesce(${change.secretsAccess ?? null}, secrets_access),
    is_default = is_default or ${change.isDefault ?? false} where id = ${id}`.execute(tx)
  return changed.numAffectedRows === 1n
}

/** Locks an Environment until the transaction ends, and returns true if members may launch with it. */
export async function lockIsOpen(tx: Tx, environmentId: string): Promise<boolean> {
  const { rows } = await sql<{ isOpen: boolean }>`select secrets_access = 'members' as "isOpen"
    from environments where id = ${environmentId} for update`.execute(tx)
  return rows[0]?.isOpen ?? false
}

/**
 * Deletes an Environment. If it was the default, the oldest remaining Environment becomes the default. Returns false
 * and deletes nothing if it is the organization's last one. Locks the organization's row, so that two concurrent
 * deletes cannot remove the last two.
 */
export async function deleteEnvironmentRow(
  tx: Tx,
  environment: Pick<EnvironmentRow, 'id' | 'organizationId'>,
): Promise<boolean> {
  const { id, organizationId } = environment
  await lockDefault(tx, organizationId)
  const gone = await sql<{ wasDefault: boolean }>`delete from environments e
    where e.id = ${id} and exists (
      select 1 from environments o where o.organization_id = ${organizationId} and o.id <> ${id})
    returning e.is_default as "wasDefault"`.execute(tx)
  if (gone.rows.length === 0) return false
  if (gone.rows[0]?.wasDefault)
    await sql`update environments set is_default = true where id = (
      select id from environments where organization_id = ${organizationId} order by created_at, id limit 1)`.execute(
      tx,
    )
  return true
}

export type VersionRow = { version: number; createdAt: Date; dockCount: number }

/** Returns the versions, newest first, with the number of Docks pinned to each. */
export async function listVersionRows(db: Db, environmentId: string): Promise<VersionRow[]> {
  return (
    await sql<VersionRow>`select v.version, v.created_at as "createdAt",
        (select count(*) from docks d where d.environment_id = v.environment_id
          and d.environment_version = v.version)::int as "dockCount"
      from environment_versions v where v.environment_id = ${environmentId} order by v.version desc`.execute(
      db,
    )
  ).rows
}

export type DescribedVersionRow = VersionRow &
  Posture &
  Pick<EnvironmentRow, 'varNames' | 'files' | 'repositories'>

/** Returns up to `limit` versions older than `before` (null: the newest), newest first, with the names in them. */
export async function listDescribedVersionRows(
  db: Db,
  environmentId: string,
  { limit, before }: { limit: number; before: number | null },
): Promise<DescribedVersionRow[]> {
  return (
    await sql<DescribedVersionRow>`select v.version, v.created_at as "createdAt",
        (select count(*) from docks d where d.environment_id = v.environment_id
          and d.environment_version = v.version)::int as "dockCount",
        v.var_names as "varNames", v.files, v.repositories,
        v.safe_for_third_parties as "safeForThirdParties", v.pass_github as "passGithub",
        v.pass_secrets as "passSecrets", v.pass_dock_credentials as "passDockCredentials",
        v.pass_agents_credentials as "passAgentsCredentials"
      from environment_versions v
      where v.environment_id = ${environmentId} and (${before}::int is null or v.version < ${before}::int)
      order by v.version desc limit ${limit}`.execute(db)
  ).rows
}
