/** How large the file is in which a Dock's disk lies. */

const mebibyte = 2 ** 20
/** A filesystem's inodes take a sixty-fourth of it; its journal, its other tables and its reserve about this much. */
const inodesMiBPerGiB = 16
const tablesMiB = 128

/** Bytes of a disk on which there is room for `diskGiB` of files, those of the image among them. */
export function diskBytesOf(diskGiB: number): number {
  return (diskGiB * (1024 + inodesMiBPerGiB) + tablesMiB) * mebibyte
}
