/**
 * Access control for Docks that contain secrets. A Dock is barred to members (only admins may access it) if the
 * Environment with which it started passes anything and is for admins only, or if its disk ever received files of such
 * an Environment.
 */
import { type ErrorCode, type Role, requireApplicableFiles, roleReaches, ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { isLinkedAdmin } from '../../accounts/index.ts'

/**
 * SQL predicate for the table alias `d`: true if only admins may access the Dock. A deleted Environment counts as
 * admins only.
 */
export const barsMembers: RawBuilder<boolean> = sql<boolean>`(
  (d.env_passes and not exists (
    select 1 from environments b where b.id = d.environment_id and b.secrets_access = 'members'))
  or exists (select 1 from unnest(d.marks) as k(id) left join environments b on b.id = k.id
    where b.secrets_access is distinct from 'members'))`

/** Throws `environment_secrets_admin_only` if the Dock is barred to members and the caller is not an admin. */
export function requireSecretsAccess(dock: { barsMembers: boolean; role: Role }): void {
  if (dock.barsMembers && !roleReaches(dock.role, 'admin'))
    throw new ServiceError('environment_secrets_admin_only')
}

/** SQL predicate: true if {@link requireSecretsAccess} would refuse the membership `m` access to the Dock `d`. */
export const refusesSecrets: RawBuilder<boolean> = sql<boolean>`(${barsMembers} and m.role = 'member')`

/**
 * SQL predicate for the Environment version `v`: true if Docks can reach one of its repositories with the linked account
 * of the admin who added it. Accounts of other people or other providers give no access.
 */
export const hasConnectors: RawBuilder<boolean> = sql<boolean>`(
  not v.safe_for_third_parties and v.pass_github and v.repositories <> '[]' and exists (
    select 1 from jsonb_to_recordset(v.repository_adders) as a(provider text, "userId" uuid)
    where ${isLinkedAdmin({ organizationId: sql`v.organization_id`, userId: sql`a."userId"`, provider: sql`a.provider` })}))`

/** The Environment version with which a Dock starts. */
export type Binding = {
  environment: string
  environmentId: string
  environmentVersion: number
  /** True if the version passes anything. */
  envPasses: boolean
  /** True if the version passes files, which stay on the disk. */
  envMarks: boolean
  /** True if members may launch Docks with it. */
  forMembers: boolean
  /** True if it passes repositories that Docks can reach. */
  connectors: boolean
  /** Paths of the secret files that it passes. */
  filePaths: string[]
}

/** Columns of a {@link Binding}, for the aliases `e` (Environment) and `v` (version). */
export const bindingColumns: RawBuilder<unknown> = sql`e.name as environment, e.id as "environmentId",
  v.version as "environmentVersion", e.secrets_access = 'members' as "forMembers",
  not v.safe_for_third_parties and (
    (v.pass_secrets and (v.var_names <> '{}' or v.files <> '[]')) or (v.pass_github and v.repositories <> '[]')
    or v.pass_dock_credentials or (v.pass_agents_credentials and exists (
      select 1 from provider_keys p where p.organization_id = e.organization_id))) as "envPasses",
  not v.safe_for_third_parties and (
    (v.pass_secrets and v.files <> '[]') or (v.pass_github and v.repositories <> '[]')) as "envMarks",
  case when v.safe_for_third_parties or not v.pass_secrets then '{}'
    else array(select f ->> 'path' from jsonb_array_elements(v.files) f) end as "filePaths",
  ${hasConnectors} as connectors`

/**
 * Throws if the role may not launch a Dock with this Environment, or if no Dock can take its files. With `noEnv` every
 * role may. `forConnectors` is the error code for a Dock with connectors, because not every route may return `connector_admin_only`.
 */
export function requireLaunch(
  binding: Binding,
  role: Role,
  noEnv: boolean,
  forConnectors: ErrorCode = 'connector_admin_only',
): void {
  if (noEnv) return
  if (!roleReaches(role, 'admin')) {
    if (binding.connectors) throw new ServiceError(forConnectors)
    if (binding.envPasses && !binding.forMembers) throw new ServiceError('environment_secrets_admin_only')
  }
  requireApplicableFiles(binding.filePaths)
}

/**
 * Returns the ids of the Environments whose secrets may get onto the Dock's disk: those of `before`, and this one if it
 * passes files. With a setup script, variables count too, because the script's log may contain them.
 */
export function marksOf(
  binding: Binding,
  noEnv: boolean,
  before: readonly string[],
  hasSetup = false,
): string[] {
  return [
    ...new Set([
      ...before,
      ...((binding.envMarks || (hasSetup && binding.envPasses)) && !noEnv ? [binding.environmentId] : []),
    ]),
  ]
}
