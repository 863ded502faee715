/** Messages about image versions. */
import * as z from 'zod'
import { epoch } from './messages.ts'

/** The digest of a published version: `diskDigest` of the copy format. */
export const imageDigest = z.string().regex(/^sha256:[0-9a-f]{64}$/)

export const receiveImage = z.object({
  keys: z.string(),
  diskBytes: z.number().int().positive(),
  digest: imageDigest,
})
export type ReceiveImage = z.infer<typeof receiveImage>

export const removeImage = z.object({ digest: imageDigest, epoch: epoch.optional() })
