/** Snapshots of all Docks: their list, folders, files and differences. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { type FileStart, readStart } from './read-start.ts'

const pageSize = 100

const nextPage = ({ nextCursor }: { nextCursor: string | null }): string | undefined =>
  nextCursor ?? undefined
const firstPage = undefined as string | undefined

export function allSnapshotsQuery(of: { dockId?: string | undefined; organizationId?: string | undefined }) {
  return infiniteQueryOptions({
    queryKey: ['snapshot', 'search', of],
    queryFn: ({ signal, pageParam }) =>
      api.call('searchSnapshots', { query: { ...of, limit: pageSize, cursor: pageParam }, signal }),
    initialPageParam: firstPage,
    getNextPageParam: nextPage,
  })
}

/** A Snapshot with the name of its Dock and the state of its copy. */
export function listedSnapshotQuery(id: string) {
  return queryOptions({
    queryKey: ['snapshot', 'listed', id],
    queryFn: ({ signal }) => api.call('readListedSnapshot', { params: { id }, signal }),
  })
}

// Snapshots do not change, so these keys name no kind of live change.
export function snapshotFolderQuery(id: string, path: string) {
  return infiniteQueryOptions({
    queryKey: ['snapshot-folder', id, path],
    queryFn: ({ signal, pageParam }) =>
      api.call('listSnapshotFolder', { params: { id }, query: { path, cursor: pageParam }, signal }),
    initialPageParam: firstPage,
    getNextPageParam: nextPage,
  })
}

export function snapshotDiffQuery(id: string, to: string) {
  return infiniteQueryOptions({
    queryKey: ['snapshot-diff', id, to],
    queryFn: ({ signal, pageParam }) =>
      api.call('compareSnapshots', { params: { id, to }, query: { cursor: pageParam }, signal }),
    initialPageParam: firstPage,
    getNextPageParam: nextPage,
  })
}

export function snapshotFileUrl(id: string, path: string): string {
  return api.urlOf('readSnapshotFile', { params: { id }, query: { path } })
}

/** Reads the beginning of a file of a Snapshot. */
export function readSnapshotFileStart(
  id: string,
  path: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<FileStart> {
  return readStart(
    (headers) => api.open('readSnapshotFile', { params: { id }, query: { path }, headers, signal }),
    bytesMax,
  )
}

export const listedTemplatesQuery = queryOptions({
  queryKey: ['template', 'listed'],
  queryFn: ({ signal }) => api.call('searchTemplates', { signal }),
})
