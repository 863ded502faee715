/** Public interface of the Snapshots module. */
export { createSnapshotDeleteSaga, deleteSnapshot } from './delete-snapshot.ts'
export { createOpenReadings } from './open-readings.ts'
export { readSnapshotDownload, readSnapshotFile, readSnapshotTree } from './read-files.ts'
export { listDockSnapshots, listSnapshots, readLatestSnapshot } from './read-snapshots.ts'
