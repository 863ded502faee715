import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  ChunkDamaged,
  chunkBytes,
  chunkName,
  newCopyKeys,
  openChunk,
  openManifest,
  parseCopyKeys,
  sealChunk,
  sealManifest,
  serialiseCopyKeys,
} from './index.ts'

const keys = newCopyKeys()

describe('a chunk', () => {
  it('round-trips, with keys that were serialised and parsed', async () => {
    const content = randomBytes(chunkBytes)
    const name = await chunkName(keys, content)
    const sealed = await sealChunk(keys, name, content)
    const again = parseCopyKeys(serialiseCopyKeys(keys))
    expect((await openChunk(again, name, sealed)).equals(content)).toBe(true)
  })

  it('is named by key and content, and does not reveal the content', async () => {
    const content = Buffer.from('canary '.repeat(1000))
    const name = await chunkName(keys, content)
    expect(await chunkName(keys, Buffer.from(content))).toBe(name)
    expect(await chunkName(newCopyKeys(), content)).not.toBe(name)
    const sealed = await sealChunk(keys, name, content)
    expect(sealed.includes('canary')).toBe(false)
    expect(sealed.length).toBeLessThan(content.length)
  })

  it('is refused with a flipped bit, truncated, under the name of another chunk, or with other keys', async () => {
    const content = randomBytes(100_000)
    const name = await chunkName(keys, content)
    const sealed = await sealChunk(keys, name, content)
    for (const at of [0, 13, 29, sealed.length - 1]) {
      const flipped = Buffer.from(sealed)
      flipped[at] = (flipped[at] ?? 0) ^ 1
      await expect(openChunk(keys, name, flipped)).rejects.toThrow(ChunkDamaged)
    }
    await expect(openChunk(keys, name, sealed.subarray(0, 1000))).rejects.toThrow(ChunkDamaged)
    await expect(openChunk(keys, name, sealed.subarray(0, 5))).rejects.toThrow(ChunkDamaged)
    const other = randomBytes(100_000)
    await expect(openChunk(keys, await chunkName(keys, other), sealed)).rejects.toThrow(ChunkDamaged)
    await expect(openChunk(newCopyKeys(), name, sealed)).rejects.toThrow(ChunkDamaged)
  })
})

describe('a manifest', () => {
  it('opens only under the object key it was sealed for', async () => {
    const manifest = {
      version: 1 as const,
      diskBytes: 20 * 2 ** 30,
      chunkBytes,
      chunks: [[7, await chunkName(keys, Buffer.from('seven'))] as [number, string]],
      indexParts: 0,
    }
    const sealed = await sealManifest(keys, 'copies/a/manifest', manifest)
    expect(await openManifest(keys, 'copies/a/manifest', sealed)).toEqual(manifest)
    await expect(openManifest(keys, 'copies/b/manifest', sealed)).rejects.toThrow(ChunkDamaged)
  })
})
