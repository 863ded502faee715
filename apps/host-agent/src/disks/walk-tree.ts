/**
 * Lists all regular files of a disk with one debugfs process. It is asked for few folders at a time, so that memory does not
 * grow with their number: a folder that is not listed yet takes the bytes of its name, and a listed one takes a bit.
 */
import { open } from 'node:fs/promises'
import { captureReaders } from './capture-reader.ts'
import { decodeName, linesOf, mark, markOpen, startDebugfs } from './debugfs-process.ts'
import { PendingFolders } from './pending-folders.ts'

const rootInode = 2
const inodeMax = 2 ** 32 - 1
const pathLengthMax = 4096
const filesAtOnce = 500
/** Enough that debugfs never waits for the next question. */
const foldersAsked = 8
const markClosed = 'Filesystem in use: --none--'

export type DiskFile = { path: string; size: number; inode: number }

/** A set of inodes: a bit for each, in pages that are made when they are needed. */
class InodeSet {
  readonly #pages = new Map<number, Uint8Array>()

  /** Returns false if the set has the inode already. */
  add(inode: number): boolean {
    const [number, bit] = [inode >>> 15, inode & 32_767]
    const page = this.#pages.get(number) ?? new Uint8Array(4_096)
    this.#pages.set(number, page)
    const [at, mask] = [bit >>> 3, 1 << (bit & 7)]
    if (((page[at] ?? 0) & mask) !== 0) return false
    page[at] = (page[at] ?? 0) | mask
    return true
  }
}

/**
 * Lists the regular files of the ext4 disk in `file` in batches, without holding all of them in memory. Leaves out names
 * with a line break and paths that are too long. Bytes of a name that are not UTF-8 appear as `%XX`. Throws
 * `TooManyFolders`.
 */
export async function* walkTree(file: string): AsyncGenerator<DiskFile[]> {
  const release = await captureReaders.take()
  const disk = await open(file, 'r').catch((error: unknown) => {
    release()
    throw error
  })
  try {
    const child = startDebugfs(disk, [])
    child.once('close', release)
    // Track inodes: a manipulated disk may list a folder twice, or inside itself.
    const seen = new InodeSet()
    seen.add(rootInode)
    const pending = new PendingFolders()
    /** The paths of the folders that debugfs was asked for. It answers in this order. */
    const asked: string[] = []
    const ask = (inode: number, path: string): void => {
      child.stdin.write(`ls -p <${inode}>\n${mark}\n`)
      asked.push(path)
    }
    const askMore = (): void => {
      while (asked.length < foldersAsked) {
        const next = pending.take()
        if (!next) return
        ask(next.inode, next.path)
      }
    }
    let hasBegun = false
    let files: DiskFile[] = []
    child.stdin.write(`${mark}\n`)
    ask(rootInode, '')
    for await (const lines of linesOf(child)) {
      for (const line of lines) {
        if (line === markOpen) {
          if (hasBegun) {
            asked.shift()
            askMore()
          }
          hasBegun = true
        }
        if (asked.length === 0 || (!hasBegun && line.endsWith(markClosed))) child.stdin.end()
        const parts = line.split('/')
        // Only a manipulated disk contains a name with a slash.
        if (parts.length !== 8) continue
        const [, number, mode, , , name, length] = parts
        const [inode, size] = [Number(number), Number(length)]
        // A name with a line break can imitate a line.
        if (!(Number.isInteger(inode) && inode > 0 && inode <= inodeMax)) continue
        if (!mode || !name || name === '.' || name === '..') continue
        const folder = asked[0]
        const decoded = decodeName(name)
        if (folder === undefined || folder.length + 1 + decoded.length > pathLengthMax) continue
        if (mode.startsWith('10') && length && Number.isSafeInteger(size) && size >= 0)
          files.push({ path: `${folder}/${decoded}`, size, inode })
        if (mode.startsWith('04') && seen.add(inode)) pending.add(folder, decoded, inode)
      }
      if (files.length < filesAtOnce) continue
      yield files
      files = []
    }
    if (hasBegun && asked.length > 0) throw new Error('debugfs ended before it had listed all folders')
    yield files
  } finally {
    release()
    await disk.close()
  }
}
