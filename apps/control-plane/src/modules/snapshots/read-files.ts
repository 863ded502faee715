/** GET /v1/snapshots/:id/tree, …/files, …/download: read by the host that keeps the capture. */
import { ServiceError, type SnapshotDownload, type SnapshotTree } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { NoCopy } from '../copies/index.ts'
import { type DockContext, requireSecretsAccess } from '../docks/index.ts'
import { HostRefused, HostUnreachable } from '../hosts/index.ts'
import { findSnapshotRow, type SnapshotRow } from './snapshot-store.ts'

type Reader = Pick<DockContext, 'db' | 'gateway' | 'captureHost'>

const requireCompleted = async (context: Reader, caller: Visitor, id: string): Promise<SnapshotRow> => {
  const row = caller.admit(await findSnapshotRow(context.db, caller.userId, id))
  if (row.status !== 'completed') throw new ServiceError('snapshot_not_found')
  requireSecretsAccess(row)
  return row
}

/** The host that keeps the capture; where none does, one to which its copy is brought first. */
const hostOf = (context: Reader, row: SnapshotRow): Promise<string> =>
  asked(context.captureHost(row), 'service_unavailable')

const asked = async <T>(
  work: Promise<T>,
  invalid: 'not_a_regular_file' | 'service_unavailable',
): Promise<T> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof HostUnreachable || error instanceof NoCopy)
      throw new ServiceError('service_unavailable', { cause: error })
    if (!(error instanceof HostRefused)) throw error
    if (error.code === 'not_found') throw new ServiceError('snapshot_not_found')
    throw new ServiceError(error.code === 'invalid' ? invalid : 'service_unavailable', { cause: error })
  }
}

/** The files of a completed Snapshot with their sizes in bytes. */
export const readSnapshotTree = async (
  context: Reader,
  caller: Visitor,
  id: string,
): Promise<SnapshotTree> => {
  const row = await requireCompleted(context, caller, id)
  const hostId = await hostOf(context, row)
  const listing = Array.fromAsync(context.gateway.tree(hostId, id), ({ path, size }) => ({ path, size }))
  const files = await asked(listing, 'service_unavailable')
  return { snapshotId: id, files: files.sort((a, b) => (a.path < b.path ? -1 : 1)) }
}

/** The bytes of one file, as they come from the host. */
export const readSnapshotFile = async (
  context: Reader,
  caller: Visitor,
  id: string,
  path: string,
): Promise<{ body: ReadableStream<Uint8Array>; contentType: string; contentLength?: number }> => {
  const row = await requireCompleted(context, caller, id)
  const { size, body } = await asked(
    context.gateway.file(await hostOf(context, row), id, path),
    'not_a_regular_file',
  )
  return { body, contentType: 'application/octet-stream', ...(size === null ? {} : { contentLength: size }) }
}

/** A relative link to each file of a completed Snapshot. */
export const readSnapshotDownload = async (
  context: Reader,
  caller: Visitor,
  id: string,
): Promise<SnapshotDownload> => {
  const { files } = await readSnapshotTree(context, caller, id)
  const url = (path: string): string => `/v1/snapshots/${id}/files?${new URLSearchParams({ path })}`
  return { snapshotId: id, files: files.map((file) => ({ ...file, url: url(file.path) })) }
}
