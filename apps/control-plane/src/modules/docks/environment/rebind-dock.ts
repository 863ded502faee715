/** What an archived Dock is bound to for its next boot, judged and claimed as one: a change in between is found out. */
import { ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Visitor } from '../../accounts/index.ts'
import type { VisibleDock } from '../core/dock.ts'
import { type DockPassing, passingOfDock, readCreateContext } from '../core/dock-store.ts'
import { marksOf, requireLaunch } from '../core/environment-gate.ts'
import type { DockContext } from '../dock-context.ts'

export type Rebinding = {
  /** Columns of the Dock, as assignments. */
  set: RawBuilder<unknown>
  /** True of the alias `d` once the Dock is not what was judged: an upgrade has pinned it to another version. */
  unless: RawBuilder<boolean>
  /** What the row read, for a resume that fails. */
  before: DockPassing
}

/**
 * Binds the Dock to the Environment that is named, at its current version; otherwise to the one that it has, at the
 * version that it is pinned to, or to the default when that is deleted. Throws what {@link requireLaunch} throws, and
 * `environment_not_found`.
 */
export async function rebindDock(
  { db, clock }: Pick<DockContext, 'db' | 'clock'>,
  caller: Visitor,
  dock: VisibleDock,
  reference: string | undefined,
  noEnv: boolean,
): Promise<Rebinding> {
  const keepsVersion = reference === undefined && dock.environmentId !== null
  const [found, before] = await Promise.all([
    readCreateContext(db, {
      userId: caller.userId,
      workspaceId: dock.workspaceId,
      environment: reference ?? dock.environmentId,
      version: keepsVersion ? dock.environmentVersion : null,
      key: null,
      keysSince: clock.now(),
    }),
    passingOfDock(db, dock.id),
  ])
  const binding = found?.binding
  if (!binding) throw new ServiceError('environment_not_found')
  requireLaunch(binding, dock.role, noEnv, 'environment_secrets_admin_only')
  return {
    set: sql`environment = ${binding.environment}, environment_id = ${binding.environmentId},
      environment_version = ${binding.environmentVersion}, env_passes = ${binding.envPasses && !noEnv},
      marks = ${marksOf(binding, noEnv, before.marks)}::uuid[]`,
    unless: sql<boolean>`(d.environment_id is distinct from ${dock.environmentId}::uuid
      or d.environment_version is distinct from ${dock.environmentVersion}::int
      or d.env_passes <> ${before.envPasses} or d.marks <> ${before.marks}::uuid[])`,
    before,
  }
}
