/** Calls for images: reading one to publish it, receiving a published version, and its removal. */
import { ChunkDamaged, diskDigest } from '@dock/copy-format'
import { bodyOf } from '@dock/foundation'
import { nameChunks, sealChunks } from '../disks/copies/copy-capture.ts'
import { fillDisk } from '../disks/copies/restore-capture.ts'
import type { Handlers } from './bind-calls.ts'
import { inBatches, keysFrom } from './disk-streams.ts'
import type { HostView } from './host-view.ts'

export function imageHandlers({ disks, copyPace, instance }: HostView) {
  return {
    nameImageChunks: async ({ image }, { keys }) => {
      const secret = keysFrom(keys)
      return inBatches(nameChunks(await disks.imageFile(image), secret, copyPace))
    },
    sealImageChunks: async ({ image }, { keys, wanted }) => {
      const file = await disks.imageFile(image)
      return { body: bodyOf(sealChunks(file, keysFrom(keys), wanted, copyPace)) }
    },
    sendImage: ({ image }, { keys, diskBytes, digest }, frames) =>
      disks.receiveImage(image, {
        digest,
        diskBytes,
        fill: async (disk) => {
          const written = await fillDisk(disk, diskBytes, keysFrom(keys), frames)
          if (diskDigest(diskBytes, written) !== digest)
            throw new ChunkDamaged(`the received disk does not match ${image} ${digest}`)
        },
      }),
    removeImage: async ({ image }, { digest, epoch }) => {
      await instance.requireCurrent(epoch)
      await disks.removeImage(image, digest)
    },
  } satisfies Partial<Handlers>
}
