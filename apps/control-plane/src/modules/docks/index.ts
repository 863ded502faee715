/** Public interface of the Docks module: its operations, sagas and timers. Nothing else may be imported from outside. */

export type { DockActivity } from './activity/dock-activity.ts'
export { branchDock } from './boot/branch-dock.ts'
export { createDock } from './boot/create-dock.ts'
export { resumeDock } from './boot/resume-dock.ts'
export type { DockRow } from './core/dock.ts'
export { claimDock, saveOperation } from './core/dock-claim.ts'
export { completeOperation, holdDock } from './core/dock-commit.ts'
export { findVisibleDock } from './core/dock-store.ts'
export {
  barsMembers,
  hasConnectors,
  refusesSecrets,
  requireSecretsAccess,
} from './core/environment-gate.ts'
export { explainFailure } from './core/explain-failure.ts'
export { latestSnapshot } from './core/kept-snapshot.ts'
export { blockIfInherited, findLostTimeCapture, type LostTimeParts } from './core/lost-time.ts'
export { removeCapture } from './core/remove-from-host.ts'
export { retryWhenHostReconnects } from './core/retry-when-host-reconnects.ts'
export { runOperationForResponse } from './core/run-operation-for-response.ts'
export { dockSealedColumns } from './core/sealed-columns.ts'
export { isBeingBooted } from './core/snapshot-in-use.ts'
export { createDocksModule, type DocksModule } from './create-docks-module.ts'
export { deleteDock } from './delete/delete-dock.ts'
export { causedBy, type DockContext, newDockOperation, requireDock } from './dock-context.ts'
export { renameEnvironmentOfDocks } from './environment/rename-environment.ts'
export type { OrganizationOf } from './environment/repositories/organization-of.ts'
export type { BootedDock } from './environment/repositories/passed-repositories.ts'
export { upgradeDocks } from './environment/upgrade-docks.ts'
export { execInDock } from './exec/exec-dock.ts'
export { type Adopted, adoptQuarantined } from './recovery/adopt-quarantined.ts'
export { declareLost } from './recovery/declare-lost.ts'
export { cancelOrderedStops, orderStops } from './stop/ordered-stop-store.ts'
export { stopDock } from './stop/stop-dock.ts'
export { listDocks, readDock, readOperation } from './view/read-dock.ts'
export { readDockStats } from './view/read-stats.ts'
export { updateDock } from './view/update-dock.ts'
