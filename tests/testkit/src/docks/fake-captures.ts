/**
 * Captures and images of the fake host. A capture's disk contains the capture's id, so that tests can verify a restored
 * copy. A test sets the disk of an image. Tests only.
 */
import { type HostGateway, HostRefused } from '@dock/control-plane/src/modules/hosts/index.ts'
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

type DiskCalls = Pick<HostGateway, 'nameChunks' | 'sealChunks'>
type CaptureCalls = DiskCalls & Pick<HostGateway, 'restoreCapture'>
type ImageCalls = Pick<HostGateway, 'nameImageChunks' | 'sealImageChunks' | 'sendImage' | 'removeImage'>

/** `content` returns the disk, which consists of one chunk. */
const fakeDisks = (content: (hostId: string, id: string) => Buffer): DiskCalls => ({
  nameChunks: async (hostId, id, secret) => {
    const disk = content(hostId, id)
    const name = await chunkName(parseCopyKeys(secret), disk)
    return { diskBytes: disk.length, chunks: [{ index: 0, name }] }
  },
  sealChunks: async (hostId, id, secret, wanted) => {
    const disk = content(hostId, id)
    const keys = parseCopyKeys(secret)
    const name = await chunkName(keys, disk)
    async function* frames(): AsyncGenerator<Buffer> {
      for (const index of wanted)
        yield* encodeChunk({ index, name, bytes: await sealChunk(keys, name, disk) })
      yield encodeEnd()
    }
    return frames()
  },
})

/** `captures` contains the ids of the captures that exist. */
export function fakeCaptures(captures: Set<string>): CaptureCalls {
  return {
    ...fakeDisks((_host, captureId) => {
      if (!captures.has(captureId)) throw new HostRefused('not_found', 'no such capture')
      return Buffer.from(captureId)
    }),
    restoreCapture: async (_host, captureId, disk, frames) => {
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
  const { nameChunks, sealChunks } = fakeDisks((hostId, name) => {
    const disk = images.get(hostId)?.get(name)
    if (disk === undefined) throw new HostRefused('not_found', 'no such image')
    return Buffer.from(disk)
  })
  return {
    nameImageChunks: nameChunks,
    sealImageChunks: sealChunks,
    sendImage: async (hostId, image, { keys: secret, diskBytes, digest }, frames) => {
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
    removeImage: async (hostId, image) => {
      images.get(hostId)?.delete(image)
    },
  }
}
