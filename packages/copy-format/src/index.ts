/** The format of a durable copy of a disk: sealed chunks and a sealed manifest. Used by hosts and control plane. */
export {
  ChunkDamaged,
  type CopyKeys,
  chunkBytes,
  chunkName,
  newCopyKeys,
  openChunk,
  parseCopyKeys,
  sealChunk,
  serialiseCopyKeys,
} from './chunk.ts'
export { diskDigest } from './disk-digest.ts'
export { decodeChunks, encodeChunk, encodeEnd, type SealedChunk } from './frames.ts'
export { type Manifest, openManifest, openPart, sealManifest, sealPart } from './manifest.ts'
