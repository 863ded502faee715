/** Public interface of the captures module: the rows of Snapshots, and the hosts that keep their captures. */
export { type AdoptedCapture, dockOfSnapshot, saveAdopted } from './adopted-capture.ts'
export { captureKeepers } from './capture-keepers.ts'
export { failUnkeptSnapshots, forgetKeeper, recordCopied, recordUncopied } from './copied-captures.ts'
export { completeReturnedCaptures, failCapturesOfHost, recordMissingCaptures } from './lost-captures.ts'
export {
  beginRestore,
  type CapturePlace,
  deleteUnfinishedRestores,
  endRestore,
  findLinkedKeeper,
  finishRestore,
  recordCaptureUse,
} from './restore-store.ts'
export {
  deleteSnapshotRow,
  deleteSnapshotsOfDock,
  endSavingSnapshot,
  failSavingSnapshots,
  insertSavingSnapshot,
  type SavedSnapshot,
} from './snapshot-rows.ts'
