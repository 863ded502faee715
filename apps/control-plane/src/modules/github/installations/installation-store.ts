/** All SQL for installations, their settings and their repositories. */
import type { InstallationSettings } from '@dock/contract'
import { sql } from 'kysely'
import { columnList, columnsOf } from '../../../database/columns.ts'
import type { Db, Row, Tx } from '../../../database/database.ts'
import type { LinkedRepository } from '../linked-repository.ts'

type InstallationTable = Row<'github_installations'>
export type InstallationRow = InstallationTable & { repos: string[] }

const columns = sql`${columnList('github_installations', 'i')}, coalesce((select array_agg(r.full_name order by r.full_name) from github_repositories r
  where r.installation_id = i.id), '{}') as repos`

/** Returns the installations of a workspace, oldest first. */
export async function listInstallationRows(
  db: Db,
  tenant: { organizationId: string; workspaceId: string },
): Promise<InstallationRow[]> {
  const { rows } = await sql<InstallationRow>`select ${columns} from github_installations i
    where i.organization_id = ${tenant.organizationId} and i.workspace_id = ${tenant.workspaceId}
    order by i.created_at, i.id`.execute(db)
  return rows
}

export async function findInstallationRow(
  db: Db,
  tenant: { organizationId: string; workspaceId: string },
  id: string,
): Promise<InstallationRow | undefined> {
  const { rows } = await sql<InstallationRow>`select ${columns} from github_installations i
    where i.organization_id = ${tenant.organizationId} and i.workspace_id = ${tenant.workspaceId} and i.id = ${id}`.execute(
    db,
  )
  return rows[0]
}

/** Returns the installation's row of a workspace, made if it is missing. */
export async function ensureInstallation(
  tx: Tx,
  row: {
    id: string
    providerInstallationId: number
    organizationId: string
    workspaceId: string
    createdBy: string
    now: Date
  },
  agent: string,
  settings: InstallationSettings,
): Promise<string> {
  const { rows } = await sql<{ id: string }>`insert into github_installations (id, provider_installation_id,
      organization_id, workspace_id, created_by, agent, created_at, updated_at)
    values (${row.id}, ${row.providerInstallationId}, ${row.organizationId}, ${row.workspaceId}, ${row.createdBy},
      ${agent}, ${row.now}, ${row.now})
    on conflict (provider_installation_id, workspace_id) do update set updated_at = excluded.updated_at
    returning id`.execute(tx)
  const id = rows[0]!.id
  await tx
    .insertInto('github_installation_settings')
    .values({ installation_id: id, ...settingsColumns(settings) })
    .onConflict((conflict) => conflict.column('installation_id').doNothing())
    .execute()
  return id
}

/** Links a repository. Returns false if another installation or workspace has it. */
export async function insertRepository(
  tx: Tx,
  repository: {
    repositoryId: number
    installationId: string
    fullName: string
    defaultBranch: string
    now: Date
  },
): Promise<boolean> {
  const { rows } =
    await sql`insert into github_repositories (repository_id, installation_id, full_name, default_branch,
      linked_at)
    values (${repository.repositoryId}, ${repository.installationId}, ${repository.fullName},
      ${repository.defaultBranch}, ${repository.now})
    on conflict (repository_id) do update set full_name = excluded.full_name, default_branch = excluded.default_branch
      where github_repositories.installation_id = excluded.installation_id
    returning 1`.execute(tx)
  return rows.length > 0
}

/** Returns the links that these repositories (null: all) have, in any workspace. */
export async function listLinks(
  db: Db,
  repositories: readonly { repositoryId: number }[] | null,
): Promise<Pick<LinkedRepository, 'repositoryId' | 'fullName' | 'organizationId' | 'workspaceId'>[]> {
  const ids = repositories?.map(({ repositoryId }) => repositoryId)
  const { rows } = await sql<LinkedRepository>`${linked} ${
    ids ? sql`where r.repository_id = any(${ids}::bigint[])` : sql``
  } order by r.full_name`.execute(db)
  return rows
}

/** True if the repository is linked by another installation of the provider: it was transferred since. */
export async function isLinkedElsewhere(
  db: Db,
  { repositoryId, providerInstallationId }: { repositoryId: number; providerInstallationId: number },
): Promise<boolean> {
  const { rows } = await sql`select 1 from github_repositories r join github_installations i
      on i.id = r.installation_id
    where r.repository_id = ${repositoryId} and i.provider_installation_id <> ${providerInstallationId}`.execute(
    db,
  )
  return rows.length > 0
}

/** Locks the workspace's row, so that concurrent requests cannot exceed the limit. Returns the number of repositories. */
export async function lockAndCountRepositories(tx: Tx, workspaceId: string): Promise<number> {
  await sql`select 1 from workspaces where id = ${workspaceId} for no key update`.execute(tx)
  const { rows } = await sql<{ count: number }>`select count(*) as count from github_repositories r
    join github_installations i on i.id = r.installation_id where i.workspace_id = ${workspaceId}`.execute(tx)
  return rows[0]!.count
}

export async function updateInstallationRow(
  db: Db,
  tenant: { organizationId: string; workspaceId: string },
  id: string,
  change: { agent?: string | undefined; testCommand?: string | null | undefined },
  now: Date,
): Promise<boolean> {
  const result = await db
    .updateTable('github_installations')
    .set({
      ...(change.agent === undefined ? {} : { agent: change.agent }),
      ...(change.testCommand === undefined ? {} : { test_command: change.testCommand }),
      updated_at: now,
    })
    .where('organization_id', '=', tenant.organizationId)
    .where('workspace_id', '=', tenant.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

type SettingsRow = Row<'github_installation_settings'>
const settingsList = columnsOf('github_installation_settings')

const settingsColumns = (settings: InstallationSettings): Omit<SettingsRow, 'installation_id'> => ({
  execution_target: settings.executionTarget,
  environment_id: settings.environmentId,
  budget_cents: settings.budgetCents,
  timeout_seconds: settings.timeoutSeconds,
  label: settings.label,
  model: settings.model,
  command_template: settings.commandTemplate,
  allow_workflow_files: settings.allowWorkflowFiles,
})

const viewSettings = (row: SettingsRow): InstallationSettings => ({
  executionTarget: row.execution_target,
  environmentId: row.environment_id,
  budgetCents: row.budget_cents,
  timeoutSeconds: row.timeout_seconds,
  label: row.label,
  model: row.model,
  commandTemplate: row.command_template,
  allowWorkflowFiles: row.allow_workflow_files,
})

/** Returns the settings of an installation, which the caller has found before. */
export async function findSettings(
  db: Db,
  installationId: string,
): Promise<InstallationSettings | undefined> {
  const row = await db
    .selectFrom('github_installation_settings')
    .select(settingsList)
    .where('installation_id', '=', installationId)
    .executeTakeFirst()
  return row && viewSettings(row)
}

/** Fields that are left out, or undefined, stay. */
export type SettingsChange = {
  [Field in keyof InstallationSettings]?: InstallationSettings[Field] | undefined
}

/** Changes the settings of an installation. Returns undefined if it was unlinked meanwhile. */
export async function updateSettings(
  db: Db,
  installationId: string,
  change: SettingsChange,
): Promise<InstallationSettings | undefined> {
  const given = Object.entries(settingsColumns(change as InstallationSettings)).filter(
    ([, value]) => value !== undefined,
  )
  if (given.length === 0) return findSettings(db, installationId)
  const row = await db
    .updateTable('github_installation_settings')
    .set(Object.fromEntries(given))
    .where('installation_id', '=', installationId)
    .returning(settingsList)
    .executeTakeFirst()
  return row && viewSettings(row)
}

const linked = sql`select i.id as "installationId", i.provider_installation_id as "providerInstallationId",
    i.organization_id as "organizationId", i.workspace_id as "workspaceId", r.repository_id as "repositoryId",
    r.full_name as "fullName", r.default_branch as "defaultBranch"
  from github_repositories r join github_installations i on i.id = r.installation_id`

/** Returns a repository that is linked to this workspace, by `owner/name` without case. */
export async function findLinkedRepository(
  db: Db,
  tenant: { organizationId: string; workspaceId: string },
  fullName: string,
): Promise<LinkedRepository | undefined> {
  const { rows } = await sql<LinkedRepository>`${linked} where i.organization_id = ${tenant.organizationId}
    and i.workspace_id = ${tenant.workspaceId} and lower(r.full_name) = lower(${fullName})
    order by r.linked_at desc limit 1`.execute(db)
  return rows[0]
}

/** True if the installation of the provider or the repository is linked. */
export async function concernsLink(
  db: Db,
  concern: { installationId: number | null; repositoryId: number | null },
): Promise<boolean> {
  const { rows } = await sql<{ isLinked: boolean }>`select
      exists (select from github_installations where provider_installation_id = ${concern.installationId}::bigint)
      or exists (select from github_repositories where repository_id = ${concern.repositoryId}::bigint)
      as "isLinked"`.execute(db)
  return rows[0]?.isLinked ?? false
}

/** Returns the link of a repository of a webhook, which the provider's signature vouches for. */
export async function findRepositoryOfWebhook(
  db: Db,
  { repositoryId, providerInstallationId }: { repositoryId: number; providerInstallationId: number },
): Promise<LinkedRepository | undefined> {
  const { rows } = await sql<LinkedRepository>`${linked} where r.repository_id = ${repositoryId}
    and i.provider_installation_id = ${providerInstallationId}`.execute(db)
  return rows[0]
}

/** Stores the name and the default branch that GitHub gives a repository now. */
export async function renameRepository(
  db: Db,
  {
    repositoryId,
    fullName,
    defaultBranch,
  }: { repositoryId: number; fullName: string; defaultBranch: string },
): Promise<void> {
  await sql`update github_repositories set full_name = ${fullName}, default_branch = ${defaultBranch}
    where repository_id = ${repositoryId}
      and (full_name, default_branch) is distinct from (${fullName}, ${defaultBranch})`.execute(db)
}

/** What a Run reads of its installation when it starts. Later changes do not concern it. */
export type InstallationForRun = {
  id: string
  organizationId: string
  workspaceId: string
  createdBy: string
  agent: string
  testCommand: string | null
  settings: InstallationSettings
}

export async function findInstallationForRun(db: Db, id: string): Promise<InstallationForRun | undefined> {
  const row = await db
    .selectFrom('github_installations as i')
    .innerJoin('github_installation_settings as s', 's.installation_id', 'i.id')
    .select(columnsOf('github_installation_settings', 's'))
    .select(['i.id', 'i.organization_id', 'i.workspace_id', 'i.created_by', 'i.agent', 'i.test_command'])
    .where('i.id', '=', id)
    .executeTakeFirst()
  if (!row) return undefined
  return {
    id: row.id,
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    createdBy: row.created_by,
    agent: row.agent,
    testCommand: row.test_command,
    settings: viewSettings(row),
  }
}
