/** GET /v1/snapshots, /v1/docks/:id/snapshots, …/latest, and /api/dashboard/snapshots */
import type { RouteQuery, routes, Snapshot, SnapshotPage, SnapshotSearchPage } from '@dock/contract'
import { decodePageCursor, encodePageCursor } from '../../database/page-cursor.ts'
import type { Caller, Visitor } from '../accounts/index.ts'
import { requireDock } from '../docks/index.ts'
import type { SnapshotContext } from './snapshot-context.ts'
import {
  findLatestSnapshotRow,
  listSnapshotRows,
  type SnapshotRow,
  searchSnapshotRows,
} from './snapshot-store.ts'

type PageQuery = { limit: number; cursor?: string | undefined }

const view = (row: SnapshotRow): Snapshot => ({
  id: row.id,
  dockId: row.dockId,
  status: row.status,
  sizeBytes: row.sizeBytes,
  runtime: row.runtime,
  createdAt: row.createdAt.toISOString(),
})

/** Reads a page of rows and the cursor of the next one. */
const readPage = async <Row extends SnapshotRow>(
  read: (...request: Parameters<typeof listSnapshotRows>) => Promise<Row[]>,
  context: Pick<SnapshotContext, 'db'>,
  caller: Caller,
  dockId: string | null,
  query: PageQuery,
): Promise<{ rows: Row[]; nextCursor: string | null }> => {
  const after = query.cursor === undefined ? null : decodePageCursor(query.cursor)
  const request = { userId: caller.userId, dockId, after, limit: query.limit + 1 }
  const rows = await read(context.db, request)
  const shown = rows.slice(0, query.limit)
  const last = shown.at(-1)
  return {
    rows: shown,
    nextCursor:
      rows.length > query.limit && last ? encodePageCursor({ at: last.createdAt, id: last.id }) : null,
  }
}

const page = async (
  context: Pick<SnapshotContext, 'db'>,
  caller: Caller,
  dockId: string | null,
  query: PageQuery,
): Promise<SnapshotPage> => {
  const { rows, nextCursor } = await readPage(listSnapshotRows, context, caller, dockId, query)
  return { snapshots: rows.map(view), nextCursor }
}

/** Returns a page of Snapshots with the names of their Docks and what is known about their copies. */
export async function searchSnapshots(
  context: Pick<SnapshotContext, 'db'>,
  caller: Caller,
  { dockId, ...query }: RouteQuery<(typeof routes)['searchSnapshots']>,
): Promise<SnapshotSearchPage> {
  const { rows, nextCursor } = await readPage(searchSnapshotRows, context, caller, dockId ?? null, query)
  return {
    snapshots: rows.map((row) => ({
      ...view(row),
      organizationId: row.organizationId,
      dockName: row.dockName,
      copy: row.provenAt && {
        provenAt: row.provenAt.toISOString(),
        damagedAt: row.damagedAt?.toISOString() ?? null,
      },
    })),
    nextCursor,
  }
}

/** Returns a page of the Snapshots of all the caller's Docks, newest first. */
export function listSnapshots(
  context: Pick<SnapshotContext, 'db'>,
  caller: Caller,
  query: PageQuery,
): Promise<SnapshotPage> {
  return page(context, caller, null, query)
}

/** Returns a page of the Snapshots of one Dock, newest first. Throws `dock_not_found`. */
export async function listDockSnapshots(
  context: Pick<SnapshotContext, 'db'>,
  caller: Visitor,
  dockId: string,
  query: PageQuery,
): Promise<SnapshotPage> {
  await requireDock(context, caller, dockId)
  return page(context, caller, dockId, query)
}

/** Returns the latest completed Snapshot of a Dock, or null. Throws `dock_not_found`. */
export async function readLatestSnapshot(
  context: Pick<SnapshotContext, 'db'>,
  caller: Visitor,
  dockId: string,
): Promise<Snapshot | null> {
  await requireDock(context, caller, dockId)
  const row = await findLatestSnapshotRow(context.db, caller.userId, dockId)
  return row && view(row)
}
