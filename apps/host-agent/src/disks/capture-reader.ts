/**
 * Reads files of a capture without mounting it: debugfs, as a user without rights, on a descriptor of the disk. Links inside the
 * disk lead nowhere on the host, because no path of the disk is ever opened by the host's kernel.
 */

import { isUtf8 } from 'node:buffer'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline, type Readable, Transform, type Writable } from 'node:stream'
import { NotInPool } from '../docks/seams.ts'
import { ReaderTurns } from './reader-turns.ts'
import { diskReader } from './run-on-disk.ts'

/** The path leads to a folder, a link or a device. */
export class NotRegularFile extends Error {
  override readonly name = 'NotRegularFile'
}

const deadlineMs = 60_000
/** What a reader may take to accept the next bytes of a file. */
const stallMsMax = 60_000
/** Each reading is a process; a reader that is slow keeps its own as long as it takes something. */
const turns = new ReaderTurns({ atOnce: 8, waitingMax: 64, waitMs: 30_000 })
const rootInode = '2'
const pathLengthMax = 4096
const filesAtOnce = 500
/** What parts the answers: a command whose own answer ends with a line that no name of a file can forge, for its slash. */
const mark = 'params'
const markOpen = 'Filesystem in use: /dev/fd/3'
const markClosed = 'Filesystem in use: --none--'

const startDebugfs = (
  disk: FileHandle,
  args: readonly string[],
  timeout?: number,
): ChildProcessByStdio<Writable, Readable, null> =>
  // `-c` leaves the bitmaps unread: only names, inodes and blocks are wanted.
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

const answer = (disk: FileHandle, input: Buffer): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = startDebugfs(disk, ['-f', '-'], deadlineMs)
    const parts: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (_code, signal) => {
      if (signal) reject(new Error(`debugfs ended by ${signal}`))
      else resolve(Buffer.concat(parts).toString('latin1'))
    })
  })

/** Whole lines that debugfs writes, some at a time, while its input is open. Throws when it was killed. */
async function* linesOf(child: ReturnType<typeof startDebugfs>): AsyncGenerator<string[]> {
  // A list may take its reader longer than that, but not one piece of it.
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
    if (signal) throw new Error(`debugfs ended by ${signal}`)
  } finally {
    clearTimeout(deadline)
    child.kill('SIGKILL')
  }
}

/** A file's name as text: bytes that are not UTF-8 are written `%XX`. */
const textOf = (latin1: string): string => {
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
 * Regular files of the ext4 disk in `file`, some at a time and without holding them in memory. A name with a line break
 * is left out, and what lies deeper than a path can name; bytes of a name that are not UTF-8 read as `%XX`.
 */
export async function* walkTree(file: string): AsyncGenerator<DiskFile[]> {
  const endTurn = await turns.take()
  const disk = await open(file, 'r').catch((error: unknown) => {
    endTurn()
    throw error
  })
  try {
    const child = startDebugfs(disk, [])
    child.once('close', endTurn)
    const ask = (inode: string): boolean => child.stdin.write(`ls -p <${inode}>\n${mark}\n`)
    // By inode: a disk that was tampered with may list a folder twice, or inside itself.
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
        // A name with a slash is the work of somebody who wrote to the disk by other means than a filesystem.
        if (parts.length !== 8) continue
        const [, inode, mode, , , name, size] = parts
        if (!inode || inode === '0' || !mode || !name || name === '.' || name === '..') continue
        const path = `${folders.get(at)}/${textOf(name)}`
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
    if (at >= 0 && folders.size > 0) throw new Error('debugfs ended early')
    yield files
  } finally {
    endTurn()
    await disk.close()
  }
}

/** The bytes of a path in which `%XX` stands for one byte, as {@link walkTree} writes names that are not UTF-8. */
const bytesOf = (path: string): Buffer =>
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
  const facts = await answer(disk, Buffer.concat([Buffer.from('stat "'), quoted, Buffer.from('"\n')]))
  const [, inode, type] = /^Inode: (\d+)\s+Type: (\w+)/m.exec(facts) ?? []
  return inode && type ? { inode, type, size: Number(/^.*Size: (\d+)/m.exec(facts)?.[1]) } : null
}

/** Passes bytes on, and fails at the end when they are not so many: a part must not be taken for the whole. */
const exactly = (size: number, stallMs: number): Transform => {
  let left = size
  const stalled = setTimeout(
    () => stream.destroy(new Error('the reader of a file takes nothing any more')),
    stallMs,
  )
  const stream = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      stalled.refresh()
      left -= chunk.length
      done(null, chunk)
    },
    flush: (done) => done(left === 0 ? null : new Error(`${left} bytes of the file were not read`)),
  })
  stream.once('close', () => clearTimeout(stalled))
  return stream
}

/**
 * One regular file of the disk, as a stream that must be read or destroyed. Throws {@link NotInPool} for a path that
 * is not there and {@link NotRegularFile}.
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
  const endTurn = await turns.take()
  let isRead = false
  const disk = await open(file, 'r').catch((error: unknown) => {
    endTurn()
    throw error
  })
  try {
    const found = (await statFile(disk, Buffer.from(path))) ?? (await statFile(disk, bytesOf(path)))
    if (!found) throw new NotInPool(`no such file: ${path}`)
    const { inode, type, size } = found
    if (type !== 'regular') throw new NotRegularFile(`not a regular file: ${path}`)
    const child = startDebugfs(disk, ['-R', `cat <${inode}>`])
    child.stdin.end()
    child.once('error', (error) => child.stdout.destroy(error))
    child.once('close', endTurn)
    isRead = true
    // Taken up from the first moment: what nobody reads of a child is thrown away when it ends.
    const stream = pipeline(child.stdout, exactly(size, stallMs), () => child.kill('SIGKILL'))
    return { size, stream }
  } finally {
    if (!isRead) endTurn()
    await disk.close()
  }
}
