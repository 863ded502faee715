/** Starts an upgrade: moves Docks to the current version of their Environment. */
import { type Operation, ServiceError } from '@dock/contract'
import { newOperationId } from '@dock/foundation'
import { type Cause, claimBlockedOperation } from '../../../engine/index.ts'
import { saveOperation } from '../core/dock-claim.ts'
import { runOperationForResponse } from '../core/run-operation-for-response.ts'
import type { DockContext } from '../dock-context.ts'
import {
  countUsers,
  isSameUpgrade,
  type UpgradeData,
  type UpgradeOperation,
  type UpgradeTarget,
} from './upgrade-store.ts'

/**
 * Upgrades the given Docks, or all Docks with an older version if `dockIds` is undefined. A repeated request retries the
 * same upgrade if it is blocked. Throws `dock_not_found` if any of the Docks does not use the Environment.
 */
export async function upgradeDocks(
  context: DockContext,
  { organizationId, environmentId, version }: UpgradeTarget,
  dockIds: readonly string[] | undefined,
  cause: Cause,
): Promise<Operation> {
  const wanted = dockIds ? [...new Set(dockIds.map((id) => id.toLowerCase()))].toSorted() : null
  const environment = { organizationId, environmentId }
  if (wanted && (await countUsers(context.db, environment, wanted)) < wanted.length)
    throw new ServiceError('dock_not_found')
  const data: UpgradeData = { dataVersion: 1, version, dockIds: wanted }
  const operation: UpgradeOperation = {
    id: newOperationId(),
    organizationId,
    kind: 'upgrade-environment',
    targetType: 'environment',
    targetId: environmentId,
    dockId: null,
    hostId: null,
    generation: 0,
    status: 'processing',
    step: null,
    undoing: false,
    data,
    cause,
    error: null,
  }
  const { db, clock, runner } = context
  const same = isSameUpgrade(data)
  const blocked = await claimBlockedOperation(db, operation, {
    same,
    lease: runner.lease(),
    now: clock.now(),
  })
  if (blocked) return runOperationForResponse(context, blocked)
  await saveOperation(context, operation)
  return runOperationForResponse(context, operation)
}
