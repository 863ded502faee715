/**
 * Who may look into a Dock that has secrets. A Dock bars members when the Environment it started with passes something
 * and is for admins, or when its disk has received files of such an Environment, whatever it starts with today.
 */
import { type ErrorCode, type Role, roleReaches, ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import { isLinkedAdmin } from '../../accounts/index.ts'

/** Of the table or alias `d`. An Environment that is deleted stays for admins. */
export const barsMembers: RawBuilder<boolean> = sql<boolean>`(
  (d.env_passes and not exists (
    select 1 from environments b where b.id = d.environment_id and b.secrets_access = 'members'))
  or exists (select 1 from unnest(d.marks) as k(id) left join environments b on b.id = k.id
    where b.secrets_access is distinct from 'members'))`

/** Throws `environment_secrets_admin_only` for a member where only admins may. */
export function requireSecretsAccess(dock: { barsMembers: boolean; role: Role }): void {
  if (dock.barsMembers && !roleReaches(dock.role, 'admin'))
    throw new ServiceError('environment_secrets_admin_only')
}

/** Whether {@link requireSecretsAccess} refuses the membership `m` the Dock `d`. */
export const refusesSecrets: RawBuilder<boolean> = sql<boolean>`(${barsMembers} and m.role = 'member')`

/**
 * SQL predicate of the version `v`: true if Docks reach a repository of it through the admin who added it. Links of
 * anybody else, and of other providers, open nothing.
 */
export const hasConnectors: RawBuilder<boolean> = sql<boolean>`(
  not v.safe_for_third_parties and v.pass_github and v.repositories <> '[]' and exists (
    select 1 from jsonb_to_recordset(v.repository_adders) as a(provider text, "userId" uuid)
    where ${isLinkedAdmin({ organizationId: sql`v.organization_id`, userId: sql`a."userId"`, provider: sql`a.provider` })}))`

/** The Environment that a Dock is to start with, at its current version. */
export type Binding = {
  environment: string
  environmentId: string
  environmentVersion: number
  /** The version passes something on. */
  envPasses: boolean
  /** The version has files, which stay on a disk. */
  envMarks: boolean
  /** Members may launch Docks that receive it. */
  forMembers: boolean
  /** It passes on repositories that Docks can reach. */
  connectors: boolean
}

/** Columns of a {@link Binding}, of the aliases `e` and `v`. */
export const bindingColumns: RawBuilder<unknown> = sql`e.name as environment, e.id as "environmentId",
  v.version as "environmentVersion", e.secrets_access = 'members' as "forMembers",
  not v.safe_for_third_parties and (
    (v.pass_secrets and (v.var_names <> '{}' or v.files <> '[]')) or (v.pass_github and v.repositories <> '[]')
    or v.pass_dock_credentials or (v.pass_agents_credentials and exists (
      select 1 from provider_keys p where p.organization_id = e.organization_id))) as "envPasses",
  not v.safe_for_third_parties and (
    (v.pass_secrets and v.files <> '[]') or (v.pass_github and v.repositories <> '[]')) as "envMarks",
  ${hasConnectors} as connectors`

/**
 * Throws when a member may not launch a Dock with this Environment. Without it (`noEnv`) everybody may. `forConnectors` is
 * the code for a Dock with connectors, which not every route has.
 */
export function requireLaunch(
  binding: Binding,
  role: Role,
  noEnv: boolean,
  forConnectors: ErrorCode = 'connector_admin_only',
): void {
  if (noEnv || roleReaches(role, 'admin')) return
  if (binding.connectors) throw new ServiceError(forConnectors)
  if (binding.envPasses && !binding.forMembers) throw new ServiceError('environment_secrets_admin_only')
}

/**
 * The Environments whose secrets the Dock's disk has or is about to receive: files, and with a setup script variables
 * too, since its log may show them.
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
