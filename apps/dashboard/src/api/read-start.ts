import { DockApiError } from '@dock/sdk'

/** The beginning of a file. `tag` tells this version from others, if the route has one. */
export type FileStart = { bytes: Uint8Array<ArrayBuffer>; size: number; tag: string | null }

/** Reads the first bytes of a file. `open` sends the request with these headers. */
export async function readStart(
  open: (headers: { range: string }) => Promise<Response>,
  bytesMax: number,
): Promise<FileStart> {
  try {
    const response = await open({ range: `bytes=0-${bytesMax - 1}` })
    const { headers } = response
    const bytes = new Uint8Array(await response.arrayBuffer())
    const size = Number(/\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1] ?? bytes.length)
    return { bytes, size, tag: headers.get('etag') }
  } catch (error) {
    // An empty file has no first byte.
    if (error instanceof DockApiError && error.status === 416)
      return { bytes: new Uint8Array(), size: 0, tag: null }
    throw error
  }
}
