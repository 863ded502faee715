/** Public interface of the Snapshots module. */

export { deleteSnapshot } from './delete-snapshot.ts'
export { limitSlowReader } from './limit-slow-reader.ts'
export { createSnapshotsModule, type SnapshotsModule } from './module.ts'
export { parseRangeHeader, readSnapshotDownload, readSnapshotFile, readSnapshotTree } from './read-files.ts'
export { listDockSnapshots, listSnapshots } from './read-snapshots.ts'
