/** Public face of Snapshots. */
export { readSnapshotDownload, readSnapshotFile, readSnapshotTree } from './read-files.ts'
export { listDockSnapshots, listSnapshots, readLatestSnapshot } from './read-snapshots.ts'
