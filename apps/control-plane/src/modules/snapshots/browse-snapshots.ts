/** GET /api/dashboard/snapshots/:id/folder and …/diff/:to. A host reads the captures; no Dock wakes. */
import {
  type RouteParams,
  type RouteQuery,
  type routes,
  ServiceError,
  type SnapshotDiff,
  type SnapshotFolder,
} from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { countReadsWhile, hostOf, mapHostErrors, requireReadable } from './read-files.ts'
import type { SnapshotContext } from './snapshot-context.ts'

/** Returns a page of a folder of a completed Snapshot. Throws `snapshot_not_found`, also for a path that is no folder. */
export async function listSnapshotFolder(
  context: SnapshotContext,
  caller: Visitor,
  id: string,
  query: RouteQuery<(typeof routes)['listSnapshotFolder']>,
): Promise<SnapshotFolder> {
  const { rateLimits, readings, gateway } = context
  await rateLimits.take('snapshotFiles', caller.userId)
  const row = await requireReadable(context, caller, id)
  const { begun, end } = await countReadsWhile(async (count) => {
    count(readings.ofUser(caller.userId))
    const hostId = await hostOf(context, row)
    const party = { userId: caller.userId, organizationId: row.organizationId }
    count(readings.ofHost(hostId, party).end)
    return mapHostErrors(gateway.listCaptureFolder({ hostId, captureId: id }, query), 'service_unavailable')
  })
  end()
  return begun
}

const notCursor = (): ServiceError =>
  new ServiceError('validation_error', { message: 'cursor: must be a nextCursor' })

/**
 * Compares two completed Snapshots of one organization. Throws `snapshot_not_found` for either, and `validation_error`
 * for a cursor that the host did not make. Both captures must be on one host: a missing one is restored there from its copy.
 */
export async function compareSnapshots(
  context: SnapshotContext,
  caller: Visitor,
  { id, to }: RouteParams<(typeof routes)['compareSnapshots']>,
  { cursor }: RouteQuery<(typeof routes)['compareSnapshots']>,
): Promise<SnapshotDiff> {
  const { rateLimits, readings, gateway, ensureCapture } = context
  await rateLimits.take('snapshotFiles', caller.userId)
  const before = await requireReadable(context, caller, id)
  const after = await requireReadable(context, caller, to)
  if (before.organizationId !== after.organizationId) throw new ServiceError('snapshot_not_found')
  const { begun, end } = await countReadsWhile(async (count) => {
    count(readings.ofUser(caller.userId))
    const hostId = await hostOf(context, before)
    const party = { userId: caller.userId, organizationId: before.organizationId }
    count(readings.ofHost(hostId, party).end)
    await mapHostErrors(ensureCapture(to, hostId), 'service_unavailable')
    const comparing = gateway.compareCaptures({ hostId, captureId: id }, { to, cursor })
    return mapHostErrors(comparing, cursor === undefined ? 'service_unavailable' : notCursor())
  })
  end()
  const { changes, nextCursor, visited, hasUnlisted } = begun
  return { changes, nextCursor, visited, hasUnlisted }
}
