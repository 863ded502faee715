/**
 * Reads a capture for its durable copy: first the names of its chunks, then the sealed chunks that the object store lacks.
 * A capture never changes, so both passes see the same disk. A pause before each chunk limits how much of the machine a
 * copy uses, and lets work that callers wait for go first.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type CopyKeys, chunkBytes, chunkName, encodeChunk, encodeEnd, sealChunk } from '@dock/copy-format'
import { faultPoint } from '@dock/foundation'
import { partsWithData } from '../data-map.ts'

/** Read rate of all copies on a host. The rest of the machine's time is for its Docks. */
export type CopyPace = {
  bytesPerSecond: number
  /** Awaited before each chunk. */
  yieldToCommands?: () => Promise<void>
}

export const defaultCopyPace: CopyPace = { bytesPerSecond: 64 * 2 ** 20 }

const zeros = Buffer.alloc(chunkBytes)

/** Reads a chunk into `buffer` and returns a view of it: allocating a buffer for each chunk would cost as much as the read. */
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

/** When the next chunk is due, and the wait of the reader before. */
type Queue = { due: number; last: Promise<void> }

/** All readers with one pace share it, since a host may copy several disks at once. */
const queues = new WeakMap<CopyPace, Queue>()

const waitForTurn = async (queue: Queue, { bytesPerSecond, yieldToCommands }: CopyPace): Promise<void> => {
  const now = performance.now()
  if (queue.due > now + 1) await delay(queue.due - now)
  await yieldToCommands?.()
  // A delay may be made up for, up to one second.
  queue.due = Math.max(queue.due, performance.now() - 1000) + (chunkBytes / bytesPerSecond) * 1000
}

/** Returns a function that reads a chunk and keeps to the pace. */
const pacedReader = (disk: FileHandle, pace: CopyPace) => {
  const buffer = Buffer.allocUnsafeSlow(chunkBytes)
  const queue = queues.get(pace) ?? { due: 0, last: Promise.resolve() }
  queues.set(pace, queue)
  return async (index: number): Promise<Buffer> => {
    const turn = queue.last.then(() => waitForTurn(queue, pace))
    queue.last = turn.catch(() => undefined)
    await turn
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

/** Yields the disk's size, then position and name of every chunk that is not all zeros. */
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

/** Yields the chunks at these positions, sealed, as a stream of frames. */
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
