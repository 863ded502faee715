/** Public interface of the Snapshots module. */

export { compareSnapshots, listSnapshotFolder } from './browse-snapshots.ts'
export { deleteSnapshot } from './delete-snapshot.ts'
export { limitSlowReader } from './limit-slow-reader.ts'
export { createSnapshotsModule, type SnapshotsModule } from './module.ts'
export { parseRangeHeader, readSnapshotDownload, readSnapshotFile, readSnapshotTree } from './read-files.ts'
export {
  listDockSnapshots,
  listSnapshots,
  readLatestSnapshot,
  readListedSnapshot,
  searchSnapshots,
} from './read-snapshots.ts'
export type { SnapshotContext } from './snapshot-context.ts'
