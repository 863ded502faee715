/** Calls for captures: files, durable copies and their restore, removal. */
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { bodyOf } from '@dock/foundation'
import { type CapturePage, capturePageMax, parseByteRange, placeByteRange } from '@dock/host-protocol'
import { readPlace } from '../disks/compare-disks.ts'
import { nameChunks, sealChunks } from '../disks/copies/copy-capture.ts'
import { fillDisk } from '../disks/copies/restore-capture.ts'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { Handlers } from './bind-calls.ts'
import { inBatches, keysFrom } from './disk-streams.ts'
import type { HostView } from './host-view.ts'

/** Yields the bytes from `start` to `end` of a stream. The stream is destroyed when they are read. */
async function* slice(stream: Readable, start: number, end: number): AsyncGenerator<Buffer> {
  let at = 0
  if (end > start) {
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      const part = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at))
      at += bytes.length
      if (part.length > 0) yield part
      if (at >= end) break
    }
  }
  stream.destroy()
}

/** Yields the captures page by page, as fast as the reader consumes them. */
async function* pagesOf(captures: readonly string[]): AsyncGenerator<CapturePage[]> {
  for (let at = 0; at < captures.length; at += capturePageMax)
    yield [{ captures: captures.slice(at, at + capturePageMax) }]
}

export function captureHandlers({ disks, captureNotes, instance, copyPace }: HostView) {
  return {
    listCaptures: async () => pagesOf((await disks.list()).captures),
    destroyCapture: async ({ captureId }, { epoch }) => {
      await instance.requireCurrent(epoch)
      await disks.removeCapture(captureId)
      await captureNotes.remove(captureId)
    },
    readCaptureNote: async ({ captureId }) => {
      const file = await disks.captureFile(captureId)
      const [disk, dock] = await Promise.all([stat(file).catch(() => null), captureNotes.read(captureId)])
      return { sizeBytes: disk && disk.blocks * 512, diskBytes: disk?.size ?? null, dock }
    },
    listCaptureFiles: async ({ captureId }) => {
      await disks.captureFile(captureId)
      return disks.walk(captureId)
    },
    listCaptureFolder: ({ captureId }, { path, limit, cursor = null }) =>
      disks.listFolder(captureId, { path, limit, cursor }),
    compareCaptures: ({ captureId }, { to, cursor }) => {
      const from = cursor === undefined ? null : readPlace(cursor)
      if (cursor !== undefined && from === null) throw new AgentRefusal('invalid', 'cursor: not a nextCursor')
      return disks.compare(captureId, to, from)
    },
    readCaptureFile: async ({ captureId }, { path, range: wanted }) => {
      const range = wanted === undefined ? {} : parseByteRange(wanted)
      if (range === null) throw new AgentRefusal('invalid', 'range: not a valid byte range')
      const { size, stream } = await disks.readFile(captureId, path)
      const whole = { start: 0, end: size }
      const { start, end } =
        wanted === undefined ? whole : (placeByteRange(range, size) ?? { start: 0, end: 0 })
      return { size, length: end - start, body: bodyOf(slice(stream, start, end), () => stream.destroy()) }
    },
    nameChunks: async ({ captureId }, { keys }) => {
      const secret = keysFrom(keys)
      return inBatches(nameChunks(await disks.captureFile(captureId), secret, copyPace))
    },
    sealChunks: async ({ captureId }, { keys, wanted }) => {
      const file = await disks.captureFile(captureId)
      return { body: bodyOf(sealChunks(file, keysFrom(keys), wanted, copyPace)) }
    },
    restoreCapture: ({ captureId }, { keys, diskBytes }, frames) =>
      disks.restoreCapture(captureId, diskBytes, (disk) => fillDisk(disk, diskBytes, keysFrom(keys), frames)),
  } satisfies Partial<Handlers>
}
