/**
 * Calls that transfer captures and images. They use the bulk link, so that they delay no command and no heartbeat. The
 * list of captures uses the control link: handling an inventory needs it, possibly before the bulk link is up.
 */
import { bodyOf } from '@dock/foundation'
import {
  type AgentLink,
  captured,
  captureFile,
  capturePage,
  diskComparison,
  diskFolder,
  fileSizeHeader,
  type LinkChannel,
  readLines,
  writeByteRange,
} from '@dock/host-protocol'
import type * as z from 'zod'
import { type HostGateway, HostRefused } from '../../modules/hosts/index.ts'
import { createHostRequests } from './ask-host.ts'
import { createDiskCalls } from './disk-calls.ts'
import { readAtMost } from './read-at-most.ts'

type CaptureCalls = Pick<
  HostGateway,
  | 'listCaptures'
  | 'listCaptureFiles'
  | 'listCaptureFolder'
  | 'compareCaptures'
  | 'readCaptureFile'
  | 'nameChunks'
  | 'sealChunks'
  | 'restoreCapture'
  | 'nameImageChunks'
  | 'sealImageChunks'
  | 'sendImage'
>

/** More than a full page has. */
const pageBytesMax = 16 * 2 ** 20

const parseJson = (text: string | null): unknown => {
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

/** `link` returns the host's link of a channel, or throws HostUnreachable. */
export function createCaptureCalls(link: (hostId: string, channel: LinkChannel) => AgentLink): CaptureCalls {
  const askInBulk = createHostRequests((hostId) => link(hostId, 'bulk'))
  const ask = createHostRequests((hostId) => link(hostId, 'control'))
  /** Reads a page, which is JSON of a bounded length. */
  const readPage = async <T>(
    hostId: string,
    path: string,
    query: Record<string, string | undefined>,
    schema: z.ZodType<T>,
  ): Promise<T> => {
    const given = Object.entries(query).filter((each): each is [string, string] => each[1] !== undefined)
    const { stream } = await askInBulk(hostId, 'GET', `${path}?${new URLSearchParams(given)}`)
    const text = await readAtMost(stream, pageBytesMax)
    const page = schema.safeParse(parseJson(text))
    if (!page.success) throw new HostRefused('failed', 'the page is not in the protocol')
    return page.data
  }
  const { nameChunks, sealChunks, send } = createDiskCalls(askInBulk)
  return {
    async *listCaptures(hostId, signal) {
      const { stream } = await ask(hostId, 'GET', '/captures', { signal })
      for await (const pages of readLines(stream, capturePage))
        for (const { captures } of pages) yield captures
    },
    async *listCaptureFiles(hostId, captureId) {
      const { stream } = await askInBulk(hostId, 'GET', `/captures/${captureId}/tree`)
      yield* readLines(stream, captureFile)
    },
    listCaptureFolder: async (hostId, captureId, { path, limit, cursor }) =>
      readPage(hostId, `/captures/${captureId}/folder`, { path, limit: String(limit), cursor }, diskFolder),
    compareCaptures: async (hostId, captureId, to, cursor) =>
      readPage(hostId, `/captures/${captureId}/changes`, { to, cursor }, diskComparison),
    readCaptureFile: async (hostId, captureId, path, range) => {
      const query = new URLSearchParams({ path, ...(range ? { range: writeByteRange(range) } : {}) })
      const { headers, stream } = await askInBulk(hostId, 'GET', `/captures/${captureId}/files?${query}`)
      return { size: Number(headers[fileSizeHeader]), body: bodyOf(stream) }
    },
    nameChunks: (hostId, captureId, keys) => nameChunks(hostId, `/captures/${captureId}`, keys),
    sealChunks: (hostId, captureId, keys, wanted) =>
      sealChunks(hostId, `/captures/${captureId}`, keys, wanted),
    restoreCapture: async (hostId, captureId, disk, frames) =>
      captured.parse(await send(hostId, `/captures/${captureId}/restore`, disk, frames)),
    nameImageChunks: (hostId, image, keys) => nameChunks(hostId, `/images/${image}`, keys),
    sealImageChunks: (hostId, image, keys, wanted) => sealChunks(hostId, `/images/${image}`, keys, wanted),
    sendImage: async (hostId, image, disk, frames) => {
      await send(hostId, `/images/${image}/receive`, disk, frames)
    },
  }
}
