/**
 * Reads files of a capture without mounting it. debugfs runs confined, on an inherited descriptor of the disk. The host's
 * kernel never opens a path of the disk, so links inside the disk cannot lead to files of the host.
 */

import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, type Readable, Transform } from 'node:stream'
import { confinementFailed } from './confinement/launcher.ts'
import { deadlineMs, encodePath, startDebugfs } from './debugfs-process.ts'
import { NotInPool } from './pool.ts'
import { ReaderQueue } from './reader-queue.ts'

/** The path refers to a folder, a link or a device. */
export class NotRegularFile extends Error {
  override readonly name = 'NotRegularFile'
}

/** How long a reader may take to accept the next bytes of a file. */
const stallMsMax = 60_000
/** Limits all reads of captures. Each is a process. A slow reader keeps its slot as long as it accepts data. */
export const captureReaders = new ReaderQueue({ atOnce: 9, waitingMax: 64, waitMs: 30_000 })
const pathLengthMax = 4096

/** The facts of an inode come before the list of its blocks, which a tenant can make very long. */
const factsBytesMax = 64 * 1024

/** Returns the beginning of what debugfs prints for the commands. */
const runDebugfs = (disk: FileHandle, input: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = startDebugfs(disk, ['-f', '-'], deadlineMs)
    const parts: Buffer[] = []
    let bytes = 0
    child.stdout.on('data', (part: Buffer) => {
      bytes += part.length
      parts.push(part)
      if (bytes >= factsBytesMax) child.kill('SIGKILL')
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === confinementFailed) reject(new Error('debugfs could not be confined on this machine'))
      else if (signal && bytes < factsBytesMax) reject(new Error(`debugfs was killed by ${signal}`))
      else resolve(Buffer.concat(parts).toString('latin1'))
    })
  })

const statFile = async (
  disk: FileHandle,
  path: Buffer,
): Promise<{ inode: string; type: string; size: number } | null> => {
  if (/[\0\n\r]/.test(path.toString('latin1'))) return null
  const quoted = Buffer.from(path.toString('latin1').replaceAll('"', '""'), 'latin1')
  const facts = await runDebugfs(disk, Buffer.concat([Buffer.from('stat "'), quoted, Buffer.from('"\n')]))
  const [, inode, type] = /^Inode: (\d+)\s+Type: (\w+)/m.exec(facts) ?? []
  return inode && type ? { inode, type, size: Number(/^.*Size: (\d+)/m.exec(facts)?.[1]) } : null
}

/** Passes bytes through. Fails unless there are exactly `size` bytes, so that a partial file is not taken for a whole one. */
const requireSize = (size: number, stallMs: number): Transform => {
  let left = size
  const stalled = setTimeout(
    () => stream.destroy(new Error('the reader of the file stopped accepting data')),
    stallMs,
  )
  const stream = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      stalled.refresh()
      left -= chunk.length
      done(null, chunk)
    },
    flush: (done) => done(left === 0 ? null : new Error(`${left} bytes of the file are missing`)),
  })
  stream.once('close', () => clearTimeout(stalled))
  return stream
}

/**
 * Opens one regular file of the disk. The caller must read or destroy the stream. Throws {@link NotInPool} if the path does
 * not exist, {@link NotRegularFile} if it is not a regular file, and {@link QueueFull} if too many files are being read.
 */
export async function readDiskFile(
  file: string,
  path: string,
  stallMs = stallMsMax,
): Promise<{ size: number; stream: Readable }> {
  const segments = path.split('/').slice(1)
  const plain = path.startsWith('/') && !/[\0\n\r]/.test(path) && path.length <= pathLengthMax
  if (!plain || segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw new NotInPool(`no such file: ${path}`)
  }
  const release = await captureReaders.take()
  let isRead = false
  const disk = await open(file, 'r').catch((error: unknown) => {
    release()
    throw error
  })
  try {
    const found = (await statFile(disk, Buffer.from(path))) ?? (await statFile(disk, encodePath(path)))
    if (!found) throw new NotInPool(`no such file: ${path}`)
    const { inode, type, size } = found
    if (type !== 'regular') throw new NotRegularFile(`not a regular file: ${path}`)
    const child = startDebugfs(disk, ['-R', `cat <${inode}>`])
    child.stdin.end()
    child.once('error', (error) => child.stdout.destroy(error))
    child.once('close', release)
    isRead = true
    // Attach the pipeline immediately: Node discards unread output of a child process when the process ends.
    const stream = pipeline(child.stdout, requireSize(size, stallMs), () => child.kill('SIGKILL'))
    return { size, stream }
  } finally {
    if (!isRead) release()
    await disk.close()
  }
}
