/** POST /v1/environments/:ref/upgrade. */
import type { Operation, RouteBody, routes } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { causedBy, type DockContext, upgradeDocks } from '../docks/index.ts'
import type { EnvironmentReference } from './environment-context.ts'
import { requireEnvironment } from './require-environment.ts'

/** Upgrades the given Docks, or all Docks on an older version, to the current version. Returns the operation. */
export async function upgradeEnvironment(
  context: DockContext,
  caller: Visitor,
  reference: EnvironmentReference,
  { dockIds }: RouteBody<(typeof routes)['upgradeEnvironment']>,
): Promise<{ operation: Operation }> {
  const { id, organizationId, currentVersion } = await requireEnvironment(context, caller, reference)
  const target = { organizationId, environmentId: id, version: currentVersion }
  return { operation: await upgradeDocks(context, target, dockIds, causedBy(caller, 'upgrade')) }
}
