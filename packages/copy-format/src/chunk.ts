/**
 * A chunk: 4 MiB of a disk, named by a keyed hash of its content (HMAC-SHA256), compressed with zstd, sealed with
 * AES-256-GCM. Equal content has one name within an organization and is stored once; the key keeps a name from telling
 * what it names. Layout: 12 bytes iv, 16 bytes tag, ciphertext. The name is associated data, so chunks cannot be swapped.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Bytes of disk in a chunk; the last one of a disk may be shorter. */
export const chunkBytes = 4 * 1024 * 1024

const ivBytes = 12
const tagBytes = 16
const keyBytes = 32
const compressionLevel = 1
const turnBytes = 512 * 1024

/** Keys of one organization's copies, all made of one secret: one names chunks, one seals what is stored. */
export type CopyKeys = { readonly secret: Buffer; readonly naming: Buffer; readonly sealing: Buffer }

/** A stored part that fails its tag, its compression or its name: changed, cut or swapped. */
export class ChunkDamaged extends Error {
  override readonly name = 'ChunkDamaged'
}

const keysOf = (secret: Buffer): CopyKeys => {
  const part = (info: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', info, keyBytes))
  return { secret, naming: part('dock copy chunk names'), sealing: part('dock copy sealing') }
}

export function newCopyKeys(): CopyKeys {
  return keysOf(randomBytes(keyBytes))
}

/** Text that {@link parseCopyKeys} makes the same keys of: a secret, to be kept sealed. */
export function serialiseCopyKeys(keys: CopyKeys): string {
  return keys.secret.toString('base64')
}

/** Keys from what {@link serialiseCopyKeys} gave. Throws on anything else. */
export function parseCopyKeys(text: string): CopyKeys {
  const secret = Buffer.from(text, 'base64')
  if (secret.length !== keyBytes) throw new Error('not a secret of copy keys')
  return keysOf(secret)
}

/** The chunk's name: 64 hexadecimal digits. Made in turns, so that a process which serves others meanwhile can. */
export async function chunkName(keys: CopyKeys, content: Uint8Array): Promise<string> {
  const hash = createHmac('sha256', keys.naming)
  for (let at = 0; at < content.length; at += turnBytes) {
    if (at > 0) await nextTurn()
    hash.update(content.subarray(at, at + turnBytes))
  }
  return hash.digest('hex')
}

/** Seals bytes under a context that opening must repeat. */
export function sealBytes(keys: CopyKeys, context: string, plain: Uint8Array): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', keys.sealing, iv).setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body])
}

/** Throws {@link ChunkDamaged} unless `sealed` was sealed with these keys under this context. */
export function openBytes(keys: CopyKeys, context: string, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (bytes.length < ivBytes + tagBytes) throw new ChunkDamaged(`${context}: too short`)
  const decipher = createDecipheriv('aes-256-gcm', keys.sealing, bytes.subarray(0, ivBytes))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
  } catch (error) {
    throw new ChunkDamaged(`${context}: the seal is broken`, { cause: error })
  }
}

/** What is stored of a chunk. */
export async function sealChunk(keys: CopyKeys, name: string, content: Uint8Array): Promise<Buffer> {
  return sealBytes(
    keys,
    name,
    await compress(content, { params: { [constants.ZSTD_c_compressionLevel]: compressionLevel } }),
  )
}

/** The chunk's content, proven to be what its name says. Throws {@link ChunkDamaged}. */
export async function openChunk(keys: CopyKeys, name: string, sealed: Uint8Array): Promise<Buffer> {
  const packed = openBytes(keys, name, sealed)
  const content = await decompress(packed, { maxOutputLength: chunkBytes }).catch((error: unknown) => {
    throw new ChunkDamaged(`${name}: cannot be unpacked`, { cause: error })
  })
  const named = Buffer.from(await chunkName(keys, content))
  const wanted = Buffer.from(name)
  if (named.length !== wanted.length || !timingSafeEqual(named, wanted)) {
    throw new ChunkDamaged(`${name}: the content has another name`)
  }
  return content
}
