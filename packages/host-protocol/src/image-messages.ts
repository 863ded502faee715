/**
 * Versions of images. POST /images/:name/chunk-names and …/chunks read an image's disk as those of captures do.
 */
import * as z from 'zod'

/** The digest of a published version, as the copy format makes it. */
export const imageDigest = z.string().regex(/^sha256:[0-9a-f]{64}$/)

/**
 * POST /images/:name/receive: a line of JSON, then frames of the copy format. Every chunk is proven, and all of them
 * together by the digest, before the image takes the place of the one of before. Answers `{}`.
 */
export const receiveImage = z.strictObject({
  keys: z.string(),
  diskBytes: z.number().int().positive(),
  digest: imageDigest,
})
export type ReceiveImage = z.infer<typeof receiveImage>
