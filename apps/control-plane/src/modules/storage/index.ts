/** Public interface of the storage module: the bytes of stopped Docks and of images, on hosts and in the object store. */
export { type AdoptedCapture, dockOfSnapshot, saveAdopted } from './captures/adopted-capture.ts'
export { captureKeepers } from './captures/capture-keepers.ts'
export {
  failUnkeptSnapshots,
  forgetKeeper,
  recordCopied,
  recordUncopied,
} from './captures/copied-captures.ts'
export {
  completeReturnedCaptures,
  failCapturesOfHost,
  recordMissingCaptures,
} from './captures/lost-captures.ts'
export {
  beginRestore,
  type CapturePlace,
  deleteUnfinishedRestores,
  endRestore,
  findLinkedKeeper,
  finishRestore,
  recordCaptureUse,
} from './captures/restore-store.ts'
export {
  deleteSnapshotRow,
  deleteSnapshotsOfDock,
  endSavingSnapshot,
  failSavingSnapshots,
  insertSavingSnapshot,
  type SavedSnapshot,
} from './captures/snapshot-rows.ts'
export { type CopyContext, type CopyMetrics, copyKeysColumn } from './copies/copy-context.ts'
export {
  type CopySettings,
  type CopyTimeName,
  copyTimeNames,
  defaultCopySettings,
  readCopySettings,
} from './copies/copy-settings.ts'
export { findVerifiedCopy } from './copies/copy-store.ts'
export { type Copies, createCopies } from './copies/keep-copies.ts'
export { NoCopy, readCopy } from './copies/restore-copy.ts'
export { sweepCopies } from './copies/sweep-copies.ts'
export { takeCopy } from './copies/take-copy.ts'
export { createImages, type Images } from './images/distribute-images.ts'
export { listBuildersOf, listBuiltImages, removeVersions } from './images/image-store.ts'
