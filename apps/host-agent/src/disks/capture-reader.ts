/**
 * Reads files of a capture without mounting it: debugfs, as nobody, on a descriptor of the disk. Links inside the
 * disk lead nowhere on the host, because no path of the disk is ever opened by the host's kernel.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { type FileHandle, open } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { NotInPool } from '../docks/seams.ts'

/** The path leads to a folder, a link or a device. */
export class NotRegularFile extends Error {
  override readonly name = 'NotRegularFile'
}

const nobody = 65534
const deadlineMs = 60_000
const rootInode = '2'

const startDebugfs = (
  disk: FileHandle,
  args: readonly string[],
  timeout?: number,
): ChildProcessByStdio<Writable, Readable, null> =>
  // `-c` leaves the bitmaps unread: only names, inodes and blocks are wanted.
  spawn('debugfs', ['-c', ...args, '/dev/fd/3'], {
    stdio: ['pipe', 'pipe', 'ignore', disk.fd],
    uid: nobody,
    gid: nobody,
    env: { PATH: process.env.PATH ?? '/usr/sbin:/usr/bin:/sbin:/bin', DEBUGFS_PAGER: '' },
    ...(timeout ? { timeout, killSignal: 'SIGKILL' as const } : {}),
  }) as ChildProcessByStdio<Writable, Readable, null>

const answer = (disk: FileHandle, args: readonly string[], input: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = startDebugfs(disk, args, deadlineMs)
    const parts: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (_code, signal) => {
      if (signal) reject(new Error(`debugfs ended by ${signal}`))
      else resolve(Buffer.concat(parts).toString('utf8'))
    })
  })

/**
 * Regular files of the ext4 disk in `file`, level by level, sorted by path. A name with a line break is left out.
 */
export const readTree = async (file: string): Promise<{ path: string; size: number }[]> => {
  const disk = await open(file, 'r')
  try {
    const files: { path: string; size: number }[] = []
    // By inode: a disk that was tampered with may list a folder twice, or inside itself.
    const seen = new Set([rootInode])
    let level = new Map([[rootInode, '']])
    while (level.size > 0) {
      const next = new Map<string, string>()
      const commands = [...level.keys()].map((inode) => `ls -p <${inode}>\n`).join('')
      let folder = ''
      for (const line of (await answer(disk, ['-f', '-'], commands)).split('\n')) {
        const command = /^debugfs: ls -p <(\d+)>$/.exec(line)
        if (command) {
          folder = level.get(command[1] ?? '') ?? folder
          continue
        }
        const [, inode, mode, , , name, size] = line.split('/')
        if (!inode || inode === '0' || !mode || !name || name === '.' || name === '..') continue
        if (mode.startsWith('10') && size) files.push({ path: `${folder}/${name}`, size: Number(size) })
        if (!mode.startsWith('04') || seen.has(inode)) continue
        seen.add(inode)
        next.set(inode, `${folder}/${name}`)
      }
      level = next
    }
    return files.sort((a, b) => (a.path < b.path ? -1 : 1))
  } finally {
    await disk.close()
  }
}

/**
 * One regular file of the disk, as a stream that must be read or destroyed. Throws {@link NotInPool} for a path that
 * is not there and {@link NotRegularFile}.
 */
export const readDiskFile = async (
  file: string,
  path: string,
): Promise<{ size: number; stream: Readable }> => {
  const segments = path.split('/').slice(1)
  const plain = path.startsWith('/') && !/[\0\n\r]/.test(path) && path.length <= 4096
  if (!plain || segments.some((segment) => segment === '' || segment === '.' || segment === '..')) {
    throw new NotInPool(`no such file: ${path}`)
  }
  const disk = await open(file, 'r')
  try {
    const facts = await answer(disk, ['-R', `stat "${path.replaceAll('"', '""')}"`], '')
    const [, inode, type] = /^Inode: (\d+)\s+Type: (\w+)/.exec(facts) ?? []
    if (!inode) throw new NotInPool(`no such file: ${path}`)
    if (type !== 'regular') throw new NotRegularFile(`not a regular file: ${path}`)
    const size = Number(/Size: (\d+)/.exec(facts)?.[1])
    const child = startDebugfs(disk, ['-R', `cat <${inode}>`])
    child.stdin.end()
    child.once('error', (error) => child.stdout.destroy(error))
    child.stdout.once('close', () => child.kill('SIGKILL'))
    return { size, stream: child.stdout }
  } finally {
    await disk.close()
  }
}
