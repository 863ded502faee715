/**
 * Reads a capture for its durable copy: first the names of its chunks, then, sealed, those that the store lacks. A
 * capture never changes, so both readings see the same disk. Work is spread: a pause before each chunk keeps a copy below
 * its share of the machine, and out of the way of what people wait for.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type CopyKeys, chunkBytes, chunkName, encodeChunk, encodeEnd, sealChunk } from '@dock/copy-format'
import { faultPoint } from '@dock/foundation'
import { partsWithData } from '../disks/data-map.ts'

/** Bytes a second that the copies of a host read; the rest of the time belongs to its Docks. */
export type CopyPace = {
  bytesPerSecond: number
  /** Waited for before each chunk. */
  giveWay?: () => Promise<void>
}

export const defaultCopyPace: CopyPace = { bytesPerSecond: 64 * 2 ** 20 }

const zeros = Buffer.alloc(chunkBytes)

/** Into `buffer`, of which the answer is a part: a new one for each would cost as much as reading it. */
const readChunk = async (disk: FileHandle, index: number, buffer: Buffer): Promise<Buffer> => {
  faultPoint('disk:copy-read')
  let held = 0
  while (held < chunkBytes) {
    const { bytesRead } = await disk.read(buffer, held, chunkBytes - held, index * chunkBytes + held)
    if (bytesRead === 0) break
    held += bytesRead
  }
  return buffer.subarray(0, held)
}

/** Reads chunks of a disk, each in its turn. */
const pacedReader = (disk: FileHandle, { bytesPerSecond, giveWay }: CopyPace) => {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes)
  let due = 0
  return async (index: number): Promise<Buffer> => {
    const now = performance.now()
    if (due > now + 1) await delay(due - now)
    await giveWay?.()
    // What it fell behind it may catch up on, as far as a second.
    due = Math.max(due, performance.now() - 1000) + (chunkBytes / bytesPerSecond) * 1000
    return readChunk(disk, index, buffer)
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
export function nameChunks(
  path: string,
  keys: CopyKeys,
  pace: CopyPace,
): AsyncGenerator<{ diskBytes: number } | { index: number; name: string }> {
  return withDisk(path, async function* (disk) {
    const { size } = await disk.stat()
    yield { diskBytes: size }
    const read = pacedReader(disk, pace)
    for await (const index of partsWithData(disk, size, chunkBytes)) {
      const content = await read(index)
      if (content.equals(zeros.subarray(0, content.length))) continue
      yield { index, name: await chunkName(keys, content) }
    }
  })
}

/** The chunks at these positions, sealed, as a stream of frames. */
export function sealChunks(
  path: string,
  keys: CopyKeys,
  wanted: readonly number[],
  pace: CopyPace,
): AsyncGenerator<Buffer> {
  return withDisk(path, async function* (disk) {
    const read = pacedReader(disk, pace)
    for (const index of wanted) {
      const content = await read(index)
      const name = await chunkName(keys, content)
      yield* encodeChunk({ index, name, bytes: await sealChunk(keys, name, content) })
    }
    yield encodeEnd()
  })
}
