/** The agent's HTTP routes for captures: files, durable copies and their restore, removal. */
import { stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { bodyOf } from '@dock/foundation'
import * as protocol from '@dock/host-protocol'
import type { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import * as z from 'zod'
import { nameChunks, sealChunks } from '../copies/copy-capture.ts'
import { fillDisk } from '../copies/restore-capture.ts'
import { readPlace } from '../disks/compare-disks.ts'
import { AgentRefusal } from '../docks/agent-refusal.ts'
import { asLines, inBatches, keysFrom, splitHead, streamed } from './disk-streams.ts'
import type { HostView } from './host-view.ts'
import { parse, readBody, uuidParameter } from './read-request.ts'

/** Enough for the chunk positions of a disk of 2 TiB. */
export const positionsBytesMax = 8 * 1024 * 1024

const folderQuery = z.object({
  path: z.string().min(1).max(4096),
  limit: z.coerce.number().int().min(1).max(protocol.folderPageMax),
  cursor: z
    .string()
    .regex(/^([0-9a-f]{2}){1,255}$/)
    .optional(),
})
const changesQuery = z.object({ to: z.uuid().lowercase(), cursor: z.string().max(10_000).optional() })

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
async function* pagesOf(captures: readonly string[]): AsyncGenerator<z.infer<typeof protocol.capturePage>[]> {
  for (let at = 0; at < captures.length; at += protocol.capturePageMax)
    yield [{ captures: captures.slice(at, at + protocol.capturePageMax) }]
}

export function addCaptureRoutes(app: Hono, { disks, captureNotes, instance, copyPace }: HostView): void {
  const limited = bodyLimit({ maxSize: positionsBytesMax })

  app.get('/captures', async () =>
    streamed(asLines(pagesOf((await disks.list()).captures)), 'application/x-ndjson'),
  )

  app.post('/captures/:captureId/destroy', limited, async (context) => {
    await instance.requireCurrent((await readBody(context, protocol.destroyCapture)).epoch)
    const captureId = uuidParameter(context, 'captureId')
    await disks.removeCapture(captureId)
    await captureNotes.remove(captureId)
    return context.json({})
  })

  app.get('/captures/:captureId/note', async (context) => {
    const captureId = uuidParameter(context, 'captureId')
    const file = await disks.captureFile(captureId)
    const [disk, dock] = await Promise.all([stat(file).catch(() => null), captureNotes.read(captureId)])
    const size = { sizeBytes: disk && disk.blocks * 512, diskBytes: disk?.size ?? null }
    return context.json({ ...size, dock } satisfies protocol.CaptureNote)
  })

  app.get('/captures/:captureId/tree', async (context) => {
    const captureId = uuidParameter(context, 'captureId')
    await disks.captureFile(captureId)
    return streamed(asLines(disks.walk(captureId)), 'application/x-ndjson')
  })

  app.get('/captures/:captureId/folder', async (context) => {
    const wanted = parse(folderQuery, context.req.query())
    const page = await disks.listFolder(uuidParameter(context, 'captureId'), {
      ...wanted,
      cursor: wanted.cursor ?? null,
    })
    return context.json(page satisfies protocol.DiskFolder)
  })

  app.get('/captures/:captureId/changes', async (context) => {
    const { to, cursor } = parse(changesQuery, context.req.query())
    const from = cursor === undefined ? null : readPlace(cursor)
    if (cursor !== undefined && from === null) throw new AgentRefusal('invalid', 'cursor: not a nextCursor')
    const page = await disks.compare(uuidParameter(context, 'captureId'), to, from)
    return context.json(page satisfies protocol.DiskComparison)
  })

  app.get('/captures/:captureId/files', async (context) => {
    const path = parse(z.string().min(1), context.req.query('path'))
    const wanted = context.req.query('range')
    const range = wanted === undefined ? {} : protocol.parseByteRange(wanted)
    if (range === null) throw new AgentRefusal('invalid', 'range: not a valid byte range')
    const { size, stream } = await disks.readFile(uuidParameter(context, 'captureId'), path)
    const { start, end } = (wanted === undefined ? null : protocol.placeByteRange(range, size)) ?? {
      start: 0,
      end: wanted === undefined ? size : 0,
    }
    const headers = {
      'content-type': 'application/octet-stream',
      'content-length': String(end - start),
      [protocol.fileSizeHeader]: String(size),
    }
    return new Response(
      bodyOf(slice(stream, start, end), () => stream.destroy()),
      { headers },
    )
  })

  app.post('/captures/:captureId/chunk-names', limited, async (context) => {
    const keys = keysFrom((await readBody(context, protocol.nameChunks)).keys)
    const file = await disks.captureFile(uuidParameter(context, 'captureId'))
    return streamed(asLines(inBatches(nameChunks(file, keys, copyPace))), 'application/x-ndjson')
  })

  app.post('/captures/:captureId/chunks', limited, async (context) => {
    const { keys, wanted } = await readBody(context, protocol.sealChunks)
    const file = await disks.captureFile(uuidParameter(context, 'captureId'))
    return streamed(sealChunks(file, keysFrom(keys), wanted, copyPace), 'application/octet-stream')
  })

  app.post('/captures/:captureId/restore', async (context) => {
    const captureId = uuidParameter(context, 'captureId')
    const body = context.req.raw.body
    if (!body) throw new AgentRefusal('invalid', 'the request body is missing')
    const { head, rest } = await splitHead(body as unknown as AsyncIterable<Uint8Array>)
    const { keys, diskBytes } = parse(protocol.restoreCapture, head)
    return context.json(
      await disks.restoreCapture(captureId, diskBytes, (disk) =>
        fillDisk(disk, diskBytes, keysFrom(keys), rest),
      ),
    )
  })
}
