/**
 * Binds an archived Dock to an Environment version for its next boot. The permission check and the claim belong together:
 * the claim is refused if the Dock has changed since the check.
 */
import { ServiceError } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Visitor } from '../../accounts/index.ts'
import type { VisibleDock } from '../core/dock.ts'
import { type DockPassing, findPassing, readCreateContext } from '../core/dock-store.ts'
import { marksOf, requireLaunch } from '../core/environment-gate.ts'
import type { DockContext } from '../dock-context.ts'

export type Rebinding = {
  /** Assignments to columns of the Dock. */
  set: RawBuilder<unknown>
  /**
   * SQL predicate for the alias `d`: true if the Dock has changed since the check, for example because an upgrade pinned
   * it to another version.
   */
  unless: RawBuilder<boolean>
  /** Previous values, restored if the resume fails. */
  before: DockPassing
}

/**
 * With a `reference`, binds the Dock to the current version of that Environment. Without, keeps its Environment and
 * pinned version, or uses the default Environment if its own was deleted. Throws `environment_not_found` and the errors
 * of {@link requireLaunch}.
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
    findPassing(db, dock.id),
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
