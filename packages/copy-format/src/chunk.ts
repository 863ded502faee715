/**
 * A chunk is 4 MiB of a disk, compressed with zstd and sealed with AES-256-GCM. Its name is a keyed hash of its content
 * (HMAC-SHA256). Within an organization, equal content has the same name and is stored once. Without the key, a name
 * reveals nothing about the content. Layout: 12 bytes iv, 16 bytes tag, ciphertext. The name is associated data, so a
 * chunk cannot be stored under the name of another.
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

/** Bytes of disk in a chunk. The last chunk of a disk may be shorter. */
export const chunkBytes = 4 * 1024 * 1024

const ivBytes = 12
const tagBytes = 16
const keyBytes = 32
const compressionLevel = 1
const hashSliceBytes = 512 * 1024

/** Keys for the copies of one organization, derived from `secret`: `naming` names chunks, `sealing` encrypts them. */
export type CopyKeys = { readonly secret: Buffer; readonly naming: Buffer; readonly sealing: Buffer }

/** Stored data was altered, truncated or swapped: its tag, compression or name does not match. */
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

/** Returns text for {@link parseCopyKeys}. It contains the secret, so the caller must store it sealed. */
export function serialiseCopyKeys(keys: CopyKeys): string {
  return keys.secret.toString('base64')
}

/** Parses the output of {@link serialiseCopyKeys}. Throws if it is malformed. */
export function parseCopyKeys(text: string): CopyKeys {
  const secret = Buffer.from(text, 'base64')
  if (secret.length !== keyBytes)
    throw new Error(`The secret of copy keys must be ${keyBytes} bytes in base64.`)
  return keysOf(secret)
}

/** Returns the chunk's name, 64 hexadecimal digits. Hashes in slices so that the event loop is not blocked. */
export async function chunkName(keys: CopyKeys, content: Uint8Array): Promise<string> {
  const hash = createHmac('sha256', keys.naming)
  for (let at = 0; at < content.length; at += hashSliceBytes) {
    if (at > 0) await nextTurn()
    hash.update(content.subarray(at, at + hashSliceBytes))
  }
  return hash.digest('hex')
}

/** Seals bytes with `context` as associated data. {@link openBytes} needs the same context. */
export function sealBytes(keys: CopyKeys, context: string, plain: Uint8Array): Buffer {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', keys.sealing, iv).setAAD(Buffer.from(context))
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), body])
}

/** Returns the plain bytes. Throws {@link ChunkDamaged} unless they were sealed with these keys and this context. */
export function openBytes(keys: CopyKeys, context: string, sealed: Uint8Array): Buffer {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  if (bytes.length < ivBytes + tagBytes) throw new ChunkDamaged(`${context}: too short`)
  const decipher = createDecipheriv('aes-256-gcm', keys.sealing, bytes.subarray(0, ivBytes))
    .setAAD(Buffer.from(context))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
  } catch (error) {
    throw new ChunkDamaged(`${context}: authentication failed (damaged, or sealed under another key)`, {
      cause: error,
    })
  }
}

/** Compresses and seals a chunk for storage. */
export async function sealChunk(keys: CopyKeys, name: string, content: Uint8Array): Promise<Buffer> {
  return sealBytes(
    keys,
    name,
    await compress(content, { params: { [constants.ZSTD_c_compressionLevel]: compressionLevel } }),
  )
}

/** Returns the chunk's content. Throws {@link ChunkDamaged} unless the content matches the name. */
export async function openChunk(keys: CopyKeys, name: string, sealed: Uint8Array): Promise<Buffer> {
  const packed = openBytes(keys, name, sealed)
  const content = await decompress(packed, { maxOutputLength: chunkBytes }).catch((error: unknown) => {
    throw new ChunkDamaged(`${name}: cannot be decompressed`, { cause: error })
  })
  const named = Buffer.from(await chunkName(keys, content))
  const wanted = Buffer.from(name)
  if (named.length !== wanted.length || !timingSafeEqual(named, wanted)) {
    throw new ChunkDamaged(`${name}: the content does not match the name`)
  }
  return content
}
