/**
 * Captures and images of the fake host. A capture's disk contains the capture's id, so that tests can verify a restored
 * copy. A test sets the disk of an image. Tests only.
 */
import { Readable } from 'node:stream'
import { type HostGateway, HostRefused, type NamedDisk } from '@dock/control-plane/src/modules/hosts/index.ts'
import {
  chunkName,
  decodeChunks,
  diskDigest,
  encodeChunk,
  encodeEnd,
  openChunk,
  parseCopyKeys,
  sealChunk,
} from '@dock/copy-format'

type CaptureCalls = Pick<HostGateway, 'nameChunks' | 'sealChunks' | 'restoreCapture'>
type ImageCalls = Pick<HostGateway, 'nameImageChunks' | 'sealImageChunks' | 'sendImage' | 'removeImage'>

const nameDisk = async (disk: Buffer, secret: string): Promise<NamedDisk> => ({
  diskBytes: disk.length,
  chunks: [{ index: 0, name: await chunkName(parseCopyKeys(secret), disk) }],
})

const sealDisk = async (
  disk: Buffer,
  { keys: secret, wanted }: { keys: string; wanted: readonly number[] },
): Promise<{ body: Readable }> => {
  const keys = parseCopyKeys(secret)
  const name = await chunkName(keys, disk)
  async function* frames(): AsyncGenerator<Buffer> {
    for (const index of wanted) yield* encodeChunk({ index, name, bytes: await sealChunk(keys, name, disk) })
    yield encodeEnd()
  }
  return { body: Readable.from(frames(), { objectMode: false }) }
}

/** `captures` contains the ids of the captures that exist. */
export function fakeCaptures(captures: Set<string>): CaptureCalls {
  const diskOf = (captureId: string): Buffer => {
    if (!captures.has(captureId)) throw new HostRefused('not_found', 'no such capture')
    return Buffer.from(captureId)
  }
  return {
    nameChunks: async ({ captureId }, { keys }) => nameDisk(diskOf(captureId), keys),
    sealChunks: async ({ captureId }, body) => sealDisk(diskOf(captureId), body),
    restoreCapture: async ({ captureId }, disk, frames) => {
      const keys = parseCopyKeys(disk.keys)
      for await (const { name, bytes } of decodeChunks(frames)) {
        const restored = await openChunk(keys, name, bytes)
        if (restored.toString() !== captureId)
          throw new HostRefused('damaged', 'this is the disk of another capture')
      }
      captures.add(captureId)
      return { sizeBytes: disk.diskBytes }
    },
  }
}

/** `images` contains the disks of images, by host id and image name. */
export function fakeImages(images: Map<string, Map<string, string>>): ImageCalls {
  const diskOf = ({ hostId, image }: { hostId: string; image: string }): Buffer => {
    const disk = images.get(hostId)?.get(image)
    if (disk === undefined) throw new HostRefused('not_found', 'no such image')
    return Buffer.from(disk)
  }
  return {
    nameImageChunks: async (place, { keys }) => nameDisk(diskOf(place), keys),
    sealImageChunks: async (place, body) => sealDisk(diskOf(place), body),
    sendImage: async ({ hostId, image }, { keys: secret, diskBytes, digest }, frames) => {
      const keys = parseCopyKeys(secret)
      const filled: [number, string][] = []
      let disk = ''
      for await (const { index, name, bytes } of decodeChunks(frames)) {
        disk += (await openChunk(keys, name, bytes)).toString()
        filled.push([index, name])
      }
      if (diskDigest(diskBytes, filled) !== digest)
        throw new HostRefused('damaged', 'the disk does not match the digest')
      images.set(hostId, (images.get(hostId) ?? new Map()).set(image, disk))
    },
    removeImage: async ({ hostId, image }) => {
      images.get(hostId)?.delete(image)
    },
  }
}
