/**
 * The manifest of a copy lists the position and name of each chunk, and the number of file index parts. It is written
 * last, so a copy without a manifest is incomplete. Positions that are not listed are holes.
 */
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import * as z from 'zod'
import { ChunkDamaged, type CopyKeys, openBytes, sealBytes } from './chunk.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
/** An index part holds a few thousand paths of at most 4,096 bytes. */
const partBytesMax = 64 * 1024 * 1024

const manifestSchema = z.strictObject({
  version: z.literal(1),
  diskBytes: z.number().int().positive(),
  chunkBytes: z.number().int().positive(),
  /** Position of the chunk on the disk, counted in chunks, and its name; ascending. */
  chunks: z.array(z.tuple([z.number().int().min(0), z.string().length(64)])),
  /** Number of index parts stored beside the manifest. */
  indexParts: z.number().int().min(0),
})
export type Manifest = z.infer<typeof manifestSchema>

/** Compresses and seals text of a copy. `context` is the key of the object that stores it. */
export async function sealPart(keys: CopyKeys, context: string, text: string): Promise<Buffer> {
  return sealBytes(keys, context, await compress(Buffer.from(text)))
}

/**
 * Reverses {@link sealPart}. Throws {@link ChunkDamaged} if the part is damaged or was sealed under another context.
 */
export async function openPart(keys: CopyKeys, context: string, sealed: Uint8Array): Promise<string> {
  const packed = openBytes(keys, context, sealed)
  const plain = await decompress(packed, { maxOutputLength: partBytesMax }).catch((error: unknown) => {
    throw new ChunkDamaged(`${context}: cannot be decompressed`, { cause: error })
  })
  return plain.toString('utf8')
}

export function sealManifest(keys: CopyKeys, context: string, manifest: Manifest): Promise<Buffer> {
  return sealPart(keys, context, JSON.stringify(manifest))
}

/** Throws {@link ChunkDamaged} if the manifest is damaged or has an unknown version. */
export async function openManifest(keys: CopyKeys, context: string, sealed: Uint8Array): Promise<Manifest> {
  const parsed = manifestSchema.safeParse(JSON.parse(await openPart(keys, context, sealed)))
  if (!parsed.success) throw new ChunkDamaged(`${context}: not a valid manifest`, { cause: parsed.error })
  return parsed.data
}
