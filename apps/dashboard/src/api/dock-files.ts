/** Files of a running Dock. */
import { DockApiError } from '@dock/sdk'
import { infiniteQueryOptions } from '@tanstack/react-query'
import { api, repeatIfBroken } from './client.ts'
import { type FileStart, readStart } from './read-start.ts'

const pageSize = 500

/** The path itself and what it contains, page by page. No live event tells of files, so each visit reads them again. */
export function folderQuery(dockId: string, path: string) {
  return infiniteQueryOptions({
    queryKey: ['files', dockId, path],
    queryFn: ({ signal, pageParam }) =>
      api.call('listDockFiles', {
        params: { id: dockId },
        query: { path, limit: pageSize, cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    staleTime: 0,
  })
}

export function fileUrl(dockId: string, path: string): string {
  return api.urlOf('readDockFile', { params: { id: dockId }, query: { path } })
}

/** Reads the beginning of a file. */
export async function readDockFileStart(
  dockId: string,
  path: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<FileStart> {
  const params = { id: dockId }
  const start = await readStart(
    (headers) => api.open('readDockFile', { params, query: { path }, headers, signal }),
    bytesMax,
  )
  return start.tag === null ? { ...start, tag: await readTag(dockId, path) } : start
}

/** Returns the tag of a file's present version, or null if it is gone. */
export async function readTag(dockId: string, path: string): Promise<string | null> {
  const response = await repeatIfBroken(() => fetch(fileUrl(dockId, path), { method: 'HEAD' }))
  return response.ok ? response.headers.get('etag') : null
}

/** Returns true if something has this path. */
export async function exists(dockId: string, path: string): Promise<boolean> {
  try {
    await api.call('listDockFiles', { params: { id: dockId }, query: { path, limit: 1 } })
    return true
  } catch (error) {
    if (error instanceof DockApiError && error.code === 'not_found') return false
    throw error
  }
}

/** Sends a file and reports how many of its bytes have been sent. `fetch` reports no progress of a request. */
export function uploadFile(
  dockId: string,
  path: string,
  file: Blob,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (sentBytes: number) => void },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', api.urlOf('writeDockFile', { params: { id: dockId }, query: { path } }))
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.responseType = 'json'
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded))
    request.addEventListener('load', () => {
      const answer = request.response as { ok?: boolean; message?: string } | null
      if (answer?.ok) resolve()
      else reject(new Error(answer?.message ?? `The service answered with status ${request.status}.`))
    })
    request.addEventListener('error', () => reject(new Error('The connection broke. Nothing was changed.')))
    request.addEventListener('abort', () => reject(new Error('Cancelled. Nothing was changed.')))
    signal.addEventListener('abort', () => request.abort())
    request.send(file)
  })
}
