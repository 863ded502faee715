/** Public interface of the hosts module: enrolment, host reports, placement, quarantine, and the gateway to hosts. */

export type {
  ByteRange,
  CaptureFile,
  CaptureNote,
  ClonedRepositories,
  ExecOutcome,
  GitConnected,
  HostFacts,
  KeptInstance,
  KeptProcess,
  NamedChunk,
  ProcessEnd,
  RuntimeReport,
  SetupOutcome,
  SignalName,
  StartDock,
  TerminalSize,
  UsageSample,
  WarmSandbox,
} from '@dock/host-protocol'
export {
  clonedRepositories,
  diskBytesOf,
  HostNotLinked,
  HostRefused,
  HostUnreachable,
  parseByteRange,
  placeByteRange,
  setupOutcome,
  startDock as startDockMessage,
  writeByteRange,
} from '@dock/host-protocol'
export { deleteQuarantined } from './delete-quarantined.ts'
export { bootsDisk, runtimesFor } from './disk-runtimes.ts'
export type { DockReactions, LostRuntime, MemoryShortage } from './dock-reactions.ts'
export { createEnrolment, type Enrolment } from './enrolment.ts'
export { nextGeneration } from './generations.ts'
export { listTimeoutMs } from './host-captures.ts'
export type { HostEvents } from './host-events.ts'
export { explainHostFailure, type HostFailureWords, hostNotReached, NotBegun } from './host-failure.ts'
export type { HostGateway, HostKeptProcesses, KeptPlace, NamedDisk } from './host-gateway.ts'
export {
  endHostOrder,
  type OrderForHost,
  orderForHost,
  saveCaptureOrders,
  saveHostOrders,
} from './host-orders.ts'
export { listBuilderMarks, markBuilder } from './host-store.ts'
export { readHost } from './host-view.ts'
export { declareHostLost, isHostLost } from './lost-hosts.ts'
export { createHostsModule, type HostsModule } from './module.ts'
export { forgetImage, noteImage } from './note-image.ts'
export {
  hostCandidate,
  type PlacementPolicy,
  type PlacementRequest,
  releaseRoom,
  reserveRoom,
  throwNoPlacement,
} from './placement.ts'
export { QuarantineRefused } from './quarantine-refused.ts'
export {
  adminIdOf,
  captureIdOf,
  findUnconfirmedDisk,
  listQuarantineRows,
  lockQuarantined,
  type Quarantined,
  quarantineObjects,
  recordQuarantineDecision,
  type UnknownObjects,
} from './quarantine-store.ts'
export type { ProcessRequest, RemoteProcess } from './remote-process.ts'
export type { StartFailures } from './start-failures.ts'
export { takeDecision } from './take-decision.ts'
export type { WarmDock, WarmPoolKind, WarmPools } from './warm-pools.ts'
