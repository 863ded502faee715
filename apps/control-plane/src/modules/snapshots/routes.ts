/** Routes of Snapshots. */
import type { Handlers } from '../../routing/handler.ts'
import { compareSnapshots, listSnapshotFolder } from './browse-snapshots.ts'
import { deleteSnapshot } from './delete-snapshot.ts'
import { readSnapshotDownload, readSnapshotFile, readSnapshotTree } from './read-files.ts'
import {
  listDockSnapshots,
  listSnapshots,
  readLatestSnapshot,
  readListedSnapshot,
  searchSnapshots,
} from './read-snapshots.ts'
import type { SnapshotContext } from './snapshot-context.ts'

export function snapshotRoutes(context: SnapshotContext): Handlers {
  return {
    listSnapshots: ({ caller, query }) => listSnapshots(context, caller, query),
    listDockSnapshots: ({ caller, params, query }) => listDockSnapshots(context, caller, params.id, query),
    readLatestSnapshot: ({ caller, params }) => readLatestSnapshot(context, caller, params.id),
    readSnapshotTree: ({ caller, params }) => readSnapshotTree(context, caller, params.id),
    readSnapshotFile: ({ caller, params, query, range }) =>
      readSnapshotFile(context, caller, { id: params.id, path: query.path, range }),
    deleteSnapshot: ({ caller, params, confirmDelete }) =>
      deleteSnapshot(context, caller, params.id, confirmDelete),
    searchSnapshots: ({ caller, query }) => searchSnapshots(context, caller, query),
    readListedSnapshot: ({ caller, params }) => readListedSnapshot(context, caller, params.id),
    listSnapshotFolder: ({ caller, params, query }) => listSnapshotFolder(context, caller, params.id, query),
    compareSnapshots: ({ caller, params, query }) => compareSnapshots(context, caller, params, query),
    readSnapshotDownload: ({ caller, params }) => readSnapshotDownload(context, caller, params.id),
  }
}
