/**
 * The folders of a disk that are still to be listed, the newest first, so that few levels of the tree wait at a time. Names
 * are kept as bytes outside the heap, and the path of their folder once.
 */

/** Thrown if more folders wait than any ordinary disk has side by side. */
export class TooManyFolders extends Error {
  override readonly name = 'TooManyFolders'
}

/** About two million short names in one folder. */
const bytesMax = 32 * 2 ** 20
/** What an entry takes beside its name: the inode and the length of the name. */
const entryBytes = 6
/** What a group takes in memory beside its path and its entries. */
const groupBytes = 256
const firstBytes = 512

/** The folders in one folder. An entry is name, inode and length of the name, so that the last one can be taken off. */
type Group = { parent: string; entries: Buffer; length: number }

export class PendingFolders {
  readonly #bytesMax: number
  readonly #groups: Group[] = []
  #bytes = 0

  constructor(max = bytesMax) {
    this.#bytesMax = max
  }

  /** Throws {@link TooManyFolders}. */
  add(parent: string, name: string, inode: number): void {
    const bytes = Buffer.from(name)
    const group = this.#groupOf(parent)
    const end = group.length + bytes.length + entryBytes
    this.#bytes += bytes.length + entryBytes
    if (this.#bytes > this.#bytesMax) throw new TooManyFolders('the disk has too many folders to list')
    if (end > group.entries.length) {
      const larger = Buffer.allocUnsafeSlow(2 * end)
      group.entries.copy(larger, 0, 0, group.length)
      group.entries = larger
    }
    bytes.copy(group.entries, group.length)
    group.entries.writeUInt32LE(inode, end - entryBytes)
    group.entries.writeUInt16LE(bytes.length, end - 2)
    group.length = end
  }

  /** Removes the newest folder and returns it, or null if none is left. */
  take(): { path: string; inode: number } | null {
    const group = this.#groups.at(-1)
    if (!group) return null
    const { entries, length, parent } = group
    const start = length - entryBytes - entries.readUInt16LE(length - 2)
    const name = entries.toString('utf8', start, length - entryBytes)
    const inode = entries.readUInt32LE(length - entryBytes)
    this.#bytes -= length - start
    group.length = start
    if (start === 0) {
      this.#groups.pop()
      this.#bytes -= groupBytes + parent.length
    }
    return { path: `${parent}/${name}`, inode }
  }

  /** The answers of debugfs come folder by folder, so only the newest group can be of the same folder. */
  #groupOf(parent: string): Group {
    const newest = this.#groups.at(-1)
    if (newest?.parent === parent) return newest
    const group = { parent, entries: Buffer.allocUnsafeSlow(firstBytes), length: 0 }
    this.#groups.push(group)
    this.#bytes += groupBytes + parent.length
    return group
  }
}
