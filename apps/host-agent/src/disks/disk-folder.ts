/** Lists one folder of a capture page by page, however many names it has. */
import { type FileHandle, open } from 'node:fs/promises'
import type { DiskEntry, DiskFolder } from '@dock/host-protocol'
import { captureReaders } from './capture-reader.ts'
import { decodeName, encodePath } from './debugfs-process.ts'
import { type DebugfsSession, openDebugfsSession } from './debugfs-session.ts'
import { NotInPool } from './pool.ts'

const pathLengthMax = 4096

/** A name of a folder with what its inode says. `name` is bytes, as latin1. */
export type RawEntry = {
  name: string
  inode: string
  type: DiskEntry['type']
  mode: string
  owner: string
  size: number
}

const types: Readonly<Record<string, DiskEntry['type']>> = {
  ...{
    '10': 'file',
    '04': 'folder',
    '12': 'link',
    '01': 'pipe',
    '14': 'socket',
    '02': 'device',
    '06': 'device',
  },
}

/** Returns the entry that a line of `ls -p` describes: `/inode/mode/uid/gid/name/size/`. */
const parseEntry = (line: string): RawEntry | null => {
  const parts = line.split('/')
  const [, inode, mode, uid, gid, name, size] = parts
  if (parts.length !== 8 || !inode || inode === '0' || !mode || !name) return null
  const type = types[mode.slice(0, 2)]
  if (!type) return null
  return { name, inode, type, mode: mode.slice(-4), owner: `${uid}:${gid}`, size: Number(size) || 0 }
}

const byName = (one: RawEntry, other: RawEntry): number => (one.name < other.name ? -1 : 1)

export type FolderPage = {
  self: RawEntry | null
  entries: RawEntry[]
  hasMore: boolean
  hasUnlisted: boolean
}

/** Where a page begins: after a name, or with it. */
export type PageStart = { after?: string | null; first?: string | null; limit: number }

/**
 * Returns `limit` names, sorted by their bytes. `what` is an inode in `<>` or a path in quotes. `self` is null if it is not a
 * folder. Names with a line break are left out, and `hasUnlisted` says so.
 */
export async function readFolderPage(
  session: DebugfsSession,
  what: string,
  { after = null, first = null, limit }: PageStart,
): Promise<FolderPage> {
  let entries: RawEntry[] = []
  let self: RawEntry | null = null
  let hasUnlisted = false
  await session.ask(`ls -p ${what}`, (line) => {
    const entry = parseEntry(line)
    if (!entry) {
      hasUnlisted ||= /^\/\d+\/\d{6}\/\d+\/\d+\//.test(line) && !line.startsWith('/0/')
      return
    }
    if (entry.name === '.') self = entry
    if (entry.name === '.' || entry.name === '..') return
    if ((after !== null && entry.name <= after) || (first !== null && entry.name < first)) return
    entries.push(entry)
    // Only the first names are kept, so a folder of a million names takes no more memory than a page.
    if (entries.length > 4 * limit + 1000) entries = entries.sort(byName).slice(0, limit + 1)
  })
  entries.sort(byName)
  return { self, entries: entries.slice(0, limit), hasMore: entries.length > limit, hasUnlisted }
}

/** Opens a session on a disk for the time of the work. Waits while too many captures are being read. */
export async function withDebugfs<T>(
  files: readonly string[],
  work: (sessions: readonly DebugfsSession[], disks: readonly FileHandle[]) => Promise<T>,
): Promise<T> {
  const release = await captureReaders.take()
  const disks: FileHandle[] = []
  const sessions: DebugfsSession[] = []
  try {
    for (const file of files) disks.push(await open(file, 'r'))
    for (const disk of disks) sessions.push(openDebugfsSession(disk, () => undefined))
    return await work(sessions, disks)
  } finally {
    for (const session of sessions) session.end()
    for (const disk of disks) await disk.close()
    release()
  }
}

/** Returns the path as debugfs takes it. Throws {@link NotInPool} if it is not a plain absolute path. */
const quotePath = (path: Buffer): string => {
  const text = path.toString('latin1')
  const isPlain =
    text.startsWith('/') &&
    text.length <= pathLengthMax &&
    !/[\0\n\r]/.test(text) &&
    (text === '/' ||
      !text
        .slice(1)
        .split('/')
        .some((name) => ['', '.', '..'].includes(name)))
  if (!isPlain) throw new NotInPool('no such folder')
  return `"${text.replaceAll('"', '""')}"`
}

/** Returns a page of a folder of the disk. Throws {@link NotInPool} if there is no such folder. */
export function listDiskFolder(
  file: string,
  { path, cursor, limit }: { path: string; cursor: string | null; limit: number },
): Promise<DiskFolder> {
  const after = cursor === null ? null : Buffer.from(cursor, 'hex').toString('latin1')
  return withDebugfs([file], async ([session]) => {
    for (const each of new Set([quotePath(Buffer.from(path)), quotePath(encodePath(path))])) {
      const { self, entries, hasMore } = await readFolderPage(session!, each, { after, limit })
      if (!self) continue
      const last = entries.at(-1)
      return {
        entries: entries.map(({ name, type, mode, size }) => ({ name: decodeName(name), type, mode, size })),
        nextCursor: hasMore && last ? Buffer.from(last.name, 'latin1').toString('hex') : null,
      }
    }
    throw new NotInPool('no such folder')
  })
}
