/**
 * Reads a capture for its durable copy: first the names of its chunks, then, sealed, those that the store lacks. A
 * capture never changes, so both readings see the same disk. Work is spread: a pause after each chunk keeps a copy below
 * its share of the machine.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type CopyKeys, chunkBytes, chunkName, encodeChunk, encodeEnd, sealChunk } from '@dock/copy-format'
import { faultPoint } from '@dock/foundation'
import { partsWithData } from '../disks/data-map.ts'

/** Bytes a second that the copies of a host read; the rest of the time belongs to its Docks. */
export type CopyPace = { bytesPerSecond: number }

export const defaultCopyPace: CopyPace = { bytesPerSecond: 64 * 2 ** 20 }

const zeros = Buffer.alloc(chunkBytes)

const readChunk = async (disk: FileHandle, index: number): Promise<Buffer> => {
  faultPoint('disk:copy-read')
  const buffer = Buffer.allocUnsafe(chunkBytes)
  let held = 0
  while (held < chunkBytes) {
    const { bytesRead } = await disk.read(buffer, held, chunkBytes - held, index * chunkBytes + held)
    if (bytesRead === 0) break
    held += bytesRead
  }
  return buffer.subarray(0, held)
}

const pacer = ({ bytesPerSecond }: CopyPace) => {
  let due = performance.now()
  return async (bytes: number): Promise<void> => {
    due = Math.max(due, performance.now() - 1000) + (bytes / bytesPerSecond) * 1000
    const wait = due - performance.now()
    if (wait > 1) await delay(wait)
  }
}

const withDisk = async function* <T>(
  path: string,
  read: (disk: FileHandle) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const disk = await open(path, 'r')
  try {
    yield* read(disk)
  } finally {
    await disk.close()
  }
}

/** The disk's size, then every chunk that is not all zeros: its position and its name. */
export const nameChunks = (
  path: string,
  keys: CopyKeys,
  pace: CopyPace,
): AsyncGenerator<{ diskBytes: number } | { index: number; name: string }> =>
  withDisk(path, async function* (disk) {
    const { size } = await disk.stat()
    yield { diskBytes: size }
    const keepPace = pacer(pace)
    for await (const index of partsWithData(disk, size, chunkBytes)) {
      const content = await readChunk(disk, index)
      await keepPace(content.length)
      if (content.equals(zeros.subarray(0, content.length))) continue
      yield { index, name: await chunkName(keys, content) }
    }
  })

/** The chunks at these positions, sealed, as a stream of frames. */
export const sealChunks = (
  path: string,
  keys: CopyKeys,
  wanted: readonly number[],
  pace: CopyPace,
): AsyncGenerator<Buffer> =>
  withDisk(path, async function* (disk) {
    const keepPace = pacer(pace)
    for (const index of wanted) {
      const content = await readChunk(disk, index)
      await keepPace(content.length)
      const name = await chunkName(keys, content)
      yield* encodeChunk({ index, name, bytes: await sealChunk(keys, name, content) })
    }
    yield encodeEnd()
  })
