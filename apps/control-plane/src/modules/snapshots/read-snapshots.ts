/** GET /v1/snapshots, /v1/docks/:id/snapshots, …/latest, and /api/dashboard/snapshots with …/:id */
import {
  type ListedSnapshot,
  type RouteQuery,
  type routes,
  ServiceError,
  type Snapshot,
  type SnapshotPage,
  type SnapshotSearchPage,
} from '@dock/contract'
import { decodePageCursor, encodePageCursor } from '../../database/page-cursor.ts'
import type { Caller, Visitor } from '../accounts/index.ts'
import { requireDock } from '../docks/index.ts'
import type { SnapshotContext } from './snapshot-context.ts'
import {
  describeSnapshotRows,
  findLatestSnapshotRow,
  findSnapshotRow,
  type ListedSnapshotRow,
  listSnapshotRows,
  type SnapshotRow,
} from './snapshot-store.ts'

type PageQuery = { limit: number; cursor?: string | undefined }

/** The Snapshot as callers see it. Where its bytes are stays inside. */
const view = (row: SnapshotRow): Snapshot => ({
  id: row.id,
  dockId: row.dockId,
  status: row.status,
  sizeBytes: row.sizeBytes,
  runtime: row.runtime,
  createdAt: row.createdAt.toISOString(),
})

const listedView = (row: ListedSnapshotRow): ListedSnapshot => ({
  ...view(row),
  organizationId: row.organizationId,
  dockName: row.dockName,
  afterPowerCut: row.afterPowerCut,
  copy: row.provenAt && {
    provenAt: row.provenAt.toISOString(),
    damagedAt: row.damagedAt?.toISOString() ?? null,
  },
})

/** Reads a page of rows and the cursor of the next one. */
const readPage = async (
  { db }: Pick<SnapshotContext, 'db'>,
  caller: Caller,
  dockId: string | null,
  query: PageQuery,
  organizationId?: string,
): Promise<{ rows: SnapshotRow[]; nextCursor: string | null }> => {
  const after = query.cursor === undefined ? null : decodePageCursor(query.cursor)
  const request = {
    userId: caller.userId,
    dockId,
    after,
    limit: query.limit + 1,
    organizationId: organizationId ?? null,
  }
  const rows = await listSnapshotRows(db, request)
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
  const { rows, nextCursor } = await readPage(context, caller, dockId, query)
  return { snapshots: rows.map(view), nextCursor }
}

/** Returns a page of Snapshots with the names of their Docks and what is known about their copies. */
export async function searchSnapshots(
  context: Pick<SnapshotContext, 'db'>,
  caller: Caller,
  { dockId, organizationId, ...query }: RouteQuery<(typeof routes)['searchSnapshots']>,
): Promise<SnapshotSearchPage> {
  const { rows, nextCursor } = await readPage(context, caller, dockId ?? null, query, organizationId)
  return { snapshots: (await describeSnapshotRows(context.db, rows)).map(listedView), nextCursor }
}

/** Returns a Snapshot with its Dock's name and what is known about its copy. Throws `snapshot_not_found`. */
export async function readListedSnapshot(
  { db }: Pick<SnapshotContext, 'db'>,
  caller: Visitor,
  id: string,
): Promise<ListedSnapshot> {
  const row = caller.admit(await findSnapshotRow(db, caller.userId, id))
  const [described] = await describeSnapshotRows(db, [row])
  if (!described) throw new ServiceError('snapshot_not_found')
  return listedView(described)
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
