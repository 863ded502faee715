/** Public interface of the storage module: the bytes of stopped Docks and of images, on hosts and in the object store. */
export { dockOfSnapshot, saveAdopted } from './captures/adopted-capture.ts'
export {
  completeReturnedCaptures,
  failCapturesOfHost,
  recordMissingCaptures,
} from './captures/lost-captures.ts'
export {
  deleteSnapshotRow,
  deleteSnapshotsOfDock,
  endSavingSnapshot,
  failSavingSnapshots,
  insertSavingSnapshot,
  type SavedSnapshot,
} from './captures/snapshot-rows.ts'
export { type CopyMetrics, copyKeysColumn } from './copies/copy-context.ts'
export {
  type CopySettings,
  type CopyTimeName,
  copyTimeNames,
  defaultCopySettings,
  readCopySettings,
} from './copies/copy-settings.ts'
export { type Copies, createCopies } from './copies/keep-copies.ts'
export { NoCopy } from './copies/restore-copy.ts'
export { createImages, type Images } from './images/distribute-images.ts'
export { listBuildersOf, listBuiltImages, removeVersions } from './images/image-store.ts'
