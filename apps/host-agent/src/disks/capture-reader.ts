/**
 * Reads files of a capture without mounting it. debugfs runs as an unprivileged user on an inherited descriptor of the disk.
 * The host's kernel never opens a path of the disk, so links inside the disk cannot lead to files of the host.
 */

import { isUtf8 } from 'node:buffer'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, type Readable, Transform, type Writable } from 'node:stream'
import { NotInPool } from '../docks/host-resources.ts'
import { ReaderQueue } from './reader-queue.ts'
import { diskReader } from './run-on-disk.ts'

/** The path refers to a folder, a link or a device. */
export class NotRegularFile extends Error {
  override readonly name = 'NotRegularFile'
}

const deadlineMs = 60_000
/** How long a reader may take to accept the next bytes of a file. */
const stallMsMax = 60_000
/** Each read is a process. A slow reader keeps its slot as long as it accepts data. */
const queue = new ReaderQueue({ atOnce: 8, waitingMax: 64, waitMs: 30_000 })
const rootInode = '2'
const pathLengthMax = 4096
const filesAtOnce = 500
/** Separates the answers of debugfs: the output of this command contains a slash, which no file name can contain. */
const mark = 'params'
const markOpen = 'Filesystem in use: /dev/fd/3'
const markClosed = 'Filesystem in use: --none--'

const startDebugfs = (
  disk: FileHandle,
  args: readonly string[],
  timeout?: number,
): ChildProcessByStdio<Writable, Readable, null> =>
  // `-c` skips reading the bitmaps: only names, inodes and blocks are needed.
  spawn('debugfs', ['-c', ...args, '/dev/fd/3'], {
    stdio: ['pipe', 'pipe', 'ignore', disk.fd],
    uid: diskReader,
    gid: diskReader,
    env: {
      PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin',
      DEBUGFS_PAGER: '',
      SS_READLINE_PATH: 'none',
    },
    ...(timeout ? { timeout, killSignal: 'SIGKILL' as const } : {}),
  }) as ChildProcessByStdio<Writable, Readable, null>

const runDebugfs = (disk: FileHandle, input: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = startDebugfs(disk, ['-f', '-'], deadlineMs)
    const parts: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (_code, signal) => {
      if (signal) reject(new Error(`debugfs was killed by ${signal}`))
      else resolve(Buffer.concat(parts).toString('latin1'))
    })
  })

/** Yields complete lines of debugfs output in batches while its input is open. Throws if debugfs is killed. */
async function* linesOf(child: ReturnType<typeof startDebugfs>): AsyncGenerator<string[]> {
  // The timeout applies to each piece of output, not to the whole listing.
  const deadline = setTimeout(() => child.kill('SIGKILL'), deadlineMs)
  const ended = new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (_code, signal) => resolve(signal))
  })
  ended.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  child.stdout.setEncoding('latin1')
  let rest = ''
  try {
    for await (const text of child.stdout as AsyncIterable<string>) {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      yield lines
      deadline.refresh()
    }
    const signal = await ended
    if (signal) throw new Error(`debugfs was killed by ${signal}`)
  } finally {
    clearTimeout(deadline)
    child.kill('SIGKILL')
  }
}

/** Decodes a file name. Bytes that are not UTF-8 become `%XX`. */
const decodeName = (latin1: string): string => {
  if (/^[\0-\x7f]*$/.test(latin1)) return latin1
  const bytes = Buffer.from(latin1, 'latin1')
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find(
      (count) => at + count <= bytes.length && isUtf8(bytes.subarray(at, at + count)),
    )
    text += length
      ? bytes.toString('utf8', at, at + length)
      : `%${bytes.toString('hex', at, at + 1).toUpperCase()}`
    at += length ?? 1
  }
  return text
}

export type DiskFile = { path: string; size: number; inode: number }

/**
 * Lists the regular files of the ext4 disk in `file` in batches, without holding all of them in memory. Leaves out names
 * with a line break and paths that are too long. Bytes of a name that are not UTF-8 appear as `%XX`.
 */
export async function* walkTree(file: string): AsyncGenerator<DiskFile[]> {
  const release = await queue.take()
  const disk = await open(file, 'r').catch((error: unknown) => {
    release()
    throw error
  })
  try {
    const child = startDebugfs(disk, [])
    child.once('close', release)
    const ask = (inode: string): boolean => child.stdin.write(`ls -p <${inode}>\n${mark}\n`)
    // Track inodes: a manipulated disk may list a folder twice, or inside itself.
    const seen = new Set([rootInode])
    const folders = new Map([[0, '']])
    let at = -1
    let files: DiskFile[] = []
    child.stdin.write(`${mark}\n`)
    ask(rootInode)
    for await (const lines of linesOf(child)) {
      for (const line of lines) {
        if (line === markOpen) folders.delete(at++)
        if (folders.size === 0 || (at < 0 && line.endsWith(markClosed))) child.stdin.end()
        const parts = line.split('/')
        // Only a manipulated disk contains a name with a slash.
        if (parts.length !== 8) continue
        const [, inode, mode, , , name, size] = parts
        if (!inode || inode === '0' || !mode || !name || name === '.' || name === '..') continue
        const path = `${folders.get(at)}/${decodeName(name)}`
        if (path.length > pathLengthMax) continue
        if (mode.startsWith('10') && size) files.push({ path, size: Number(size), inode: Number(inode) })
        if (!mode.startsWith('04') || seen.has(inode)) continue
        folders.set(seen.size, path)
        seen.add(inode)
        ask(inode)
      }
      if (files.length < filesAtOnce) continue
      yield files
      files = []
    }
    if (at >= 0 && folders.size > 0) throw new Error('debugfs ended before it had listed all folders')
    yield files
  } finally {
    release()
    await disk.close()
  }
}

/** Encodes a path in which `%XX` stands for one byte, as {@link walkTree} writes names that are not UTF-8. */
const encodePath = (path: string): Buffer =>
  Buffer.concat(
    path
      .split(/(%[0-9A-F]{2})/)
      .map((part) => (/^%[0-9A-F]{2}$/.test(part) ? Buffer.from(part.slice(1), 'hex') : Buffer.from(part))),
  )

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
  const release = await queue.take()
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
