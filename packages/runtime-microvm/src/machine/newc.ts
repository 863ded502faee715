/**
 * Writes cpio archives in the format "newc", which the kernel unpacks as its first filesystem
 * (Documentation/driver-api/early-userspace/buffer-format.rst in the kernel). The same entries give the same bytes.
 */

/** A file or, without contents, a folder. All belong to root. */
export type ArchiveEntry = { path: string; mode: number; contents?: Uint8Array }

const folderType = 0o040000
const fileType = 0o100000
const permissions = 0o7777
/** Each name and each content is padded to a multiple of this. */
const alignment = 4
const endName = 'TRAILER!!!'
const fileBytesMax = 0xffff_ffff

/** A folder must come before its entries. Paths are relative, without `.` and `..`. */
export function writeNewc(entries: readonly ArchiveEntry[]): Buffer {
  const pieces = entries.flatMap((entry, index) => {
    checkPath(entry.path)
    const type = entry.contents ? fileType : folderType
    const mode = type | (entry.mode & permissions)
    return record(entry.path, { inode: index + 1, mode, links: entry.contents ? 1 : 2 }, entry.contents)
  })
  return Buffer.concat([...pieces, ...record(endName, { inode: 0, mode: 0, links: 1 })])
}

const checkPath = (path: string): void => {
  const parts = path.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..') || path.includes('\0'))
    throw new Error(`not a path for an archive: ${path}`)
}

const record = (
  path: string,
  { inode, mode, links }: { inode: number; mode: number; links: number },
  contents: Uint8Array = new Uint8Array(0),
): Uint8Array[] => {
  if (contents.length > fileBytesMax) throw new Error(`${path} is too large for an archive`)
  const name = Buffer.from(`${path}\0`)
  // Inode, mode, user, group, links, time, size, four device numbers, length of the name, checksum.
  const fields = [inode, mode, 0, 0, links, 0, contents.length, 0, 0, 0, 0, name.length, 0]
  const header = Buffer.from(`070701${fields.map((each) => each.toString(16).padStart(8, '0')).join('')}`)
  return [header, name, padding(header.length + name.length), contents, padding(contents.length)]
}

const padding = (length: number): Uint8Array => new Uint8Array((alignment - (length % alignment)) % alignment)
