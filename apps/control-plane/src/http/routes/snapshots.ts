/** Routes of Snapshots. */
import type { DockContext } from '../../modules/docks/index.ts'
import {
  createOpenReadings,
  deleteSnapshot,
  listDockSnapshots,
  listSnapshots,
  readLatestSnapshot,
  readSnapshotDownload,
  readSnapshotFile,
  readSnapshotTree,
} from '../../modules/snapshots/index.ts'
import type { Handlers } from '../handler.ts'

export function snapshotHandlers(docks: DockContext): Handlers {
  const context = { ...docks, readings: createOpenReadings() }
  return {
    listSnapshots: ({ caller, query }) => listSnapshots(context, caller, query),
    listDockSnapshots: ({ caller, params, query }) => listDockSnapshots(context, caller, params.id, query),
    readLatestSnapshot: ({ caller, params }) => readLatestSnapshot(context, caller, params.id),
    readSnapshotTree: ({ caller, params }) => readSnapshotTree(context, caller, params.id),
    readSnapshotFile: ({ caller, params, query, range }) =>
      readSnapshotFile(context, caller, { id: params.id, path: query.path, range }),
    deleteSnapshot: ({ caller, params, confirmDelete }) =>
      deleteSnapshot(context, caller, params.id, confirmDelete),
    readSnapshotDownload: ({ caller, params }) => readSnapshotDownload(context, caller, params.id),
  }
}
