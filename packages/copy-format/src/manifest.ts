/**
 * The manifest of a copy: which chunk stands where on the disk, and the parts of its file index. It is written last,
 * so a copy without one was never finished. Chunks that are absent from the list are holes.
 */
import { promisify } from 'node:util'
import { zstdCompress, zstdDecompress } from 'node:zlib'
import * as z from 'zod'
import { ChunkDamaged, type CopyKeys, openBytes, sealBytes } from './chunk.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)
/** A part of an index holds some thousand paths of at most 4,096 bytes. */
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

/** Seals text that belongs to one copy; `context` is its object's key. */
export async function sealPart(keys: CopyKeys, context: string, text: string): Promise<Buffer> {
  return sealBytes(keys, context, await compress(Buffer.from(text)))
}

/** Throws {@link ChunkDamaged} when it is not what was sealed under this context. */
export async function openPart(keys: CopyKeys, context: string, sealed: Uint8Array): Promise<string> {
  const packed = openBytes(keys, context, sealed)
  const plain = await decompress(packed, { maxOutputLength: partBytesMax }).catch((error: unknown) => {
    throw new ChunkDamaged(`${context}: cannot be unpacked`, { cause: error })
  })
  return plain.toString('utf8')
}

export function sealManifest(keys: CopyKeys, context: string, manifest: Manifest): Promise<Buffer> {
  return sealPart(keys, context, JSON.stringify(manifest))
}

/** Throws {@link ChunkDamaged} when it is damaged or not a manifest of this version. */
export async function openManifest(keys: CopyKeys, context: string, sealed: Uint8Array): Promise<Manifest> {
  const parsed = manifestSchema.safeParse(JSON.parse(await openPart(keys, context, sealed)))
  if (!parsed.success) throw new ChunkDamaged(`${context}: not a manifest`, { cause: parsed.error })
  return parsed.data
}
