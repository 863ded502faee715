/** The agent's HTTP routes for images: reading one to publish it, and receiving a published version. */
import { ChunkDamaged, diskDigest } from '@dock/copy-format'
import * as protocol from '@dock/host-protocol'
import type { Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import * as z from 'zod'
import { nameChunks, sealChunks } from '../copies/copy-capture.ts'
import { fillDisk } from '../copies/restore-capture.ts'
import { AgentRefusal } from '../docks/agent-refusal.ts'
import { positionsBytesMax } from './capture-routes.ts'
import { asLines, inBatches, keysFrom, splitHead, streamed } from './disk-streams.ts'
import type { HostView } from './host-view.ts'
import { parse, readBody } from './read-request.ts'

const nameOf = (context: Context): string =>
  parse(z.string().regex(/^[a-z0-9][a-z0-9.-]{0,63}$/), context.req.param('name'))

export function addImageRoutes(app: Hono, { disks, copyPace, instance }: HostView): void {
  const limited = bodyLimit({ maxSize: positionsBytesMax })

  app.post('/images/:name/chunk-names', limited, async (context) => {
    const keys = keysFrom((await readBody(context, protocol.nameChunks)).keys)
    const file = await disks.imageFile(nameOf(context))
    return streamed(asLines(inBatches(nameChunks(file, keys, copyPace))), 'application/x-ndjson')
  })

  app.post('/images/:name/chunks', limited, async (context) => {
    const { keys, wanted } = await readBody(context, protocol.sealChunks)
    const file = await disks.imageFile(nameOf(context))
    return streamed(sealChunks(file, keysFrom(keys), wanted, copyPace), 'application/octet-stream')
  })

  app.post('/images/:name/receive', async (context) => {
    const name = nameOf(context)
    const body = context.req.raw.body
    if (!body) throw new AgentRefusal('invalid', 'the request body is missing')
    const { head, rest } = await splitHead(body as unknown as AsyncIterable<Uint8Array>)
    const { keys, diskBytes, digest } = parse(protocol.receiveImage, head)
    await disks.receiveImage(name, {
      digest,
      diskBytes,
      fill: async (disk) => {
        const written = await fillDisk(disk, diskBytes, keysFrom(keys), rest)
        if (diskDigest(diskBytes, written) !== digest)
          throw new ChunkDamaged(`the received disk does not match ${name} ${digest}`)
      },
    })
    return context.json({})
  })

  app.post('/images/:name/remove', async (context) => {
    const { digest, epoch } = await readBody(context, protocol.removeImage)
    await instance.requireCurrent(epoch)
    await disks.removeImage(nameOf(context), digest)
    return context.json({})
  })
}
