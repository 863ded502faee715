/**
 * Messages about image versions. POST /images/:name/chunk-names and …/chunks read an image's disk in the same way as
 * the routes for captures.
 */
import * as z from 'zod'
import { epoch } from './messages.ts'

/** The digest of a published version: `diskDigest` of the copy format. */
export const imageDigest = z.string().regex(/^sha256:[0-9a-f]{64}$/)

/**
 * POST /images/:name/receive: a line of JSON, then frames of the copy format. The host verifies every chunk and the
 * digest of the whole disk before it replaces the previous image. Returns `{}`.
 */
export const receiveImage = z.strictObject({
  keys: z.string(),
  diskBytes: z.number().int().positive(),
  digest: imageDigest,
})
export type ReceiveImage = z.infer<typeof receiveImage>

/** POST /images/:name/remove: removes the image if this is its version. Docks made from it keep their disks. Returns `{}`. */
export const removeImage = z.strictObject({ digest: imageDigest, epoch: epoch.optional() })
