/** Public face of the engine: operations, sagas, the runner, deliveries, timers. */
export {
  type Claim,
  type ClaimRequest,
  createDeliveryEngine,
  type DeliveryEngine,
  retryPauseMs,
} from './delivery-engine.ts'
export type { Cause, OperationError, OperationRow, OperationStatus } from './operation.ts'
export { type EmptyData, emptyData, firstVersion, type VersionedData } from './operation-data.ts'
export {
  completeDrivenOperation,
  completeLeasedOperation,
  completeOperationsOfDock,
  insertOperation,
  type Lease,
  moveOperation,
} from './operation-parts.ts'
export { createOperationRunner, type OperationRunner } from './operation-runner.ts'
export {
  addToOperationData,
  claimBlockedOperation,
  LeaseLost,
  unblockOperationOfDock,
  unblockOperationsOfHost,
} from './operation-store.ts'
export { removeOperations } from './prune-operations.ts'
export { OperationBlocked, type Saga, type SagaStep } from './saga.ts'
export { createTimers, type Timers } from './timers.ts'
