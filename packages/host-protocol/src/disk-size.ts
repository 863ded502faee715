/** The size of a Dock's disk image file. */

const mebibyte = 2 ** 20
/** Inodes take 1/64 of the filesystem; the journal, other tables and the reserve take about `tablesMiB`. */
const inodesMiBPerGiB = 16
const tablesMiB = 128

/** Returns the bytes of a disk with room for `diskGiB` of files, including the image's files. */
export function diskBytesOf(diskGiB: number): number {
  return (diskGiB * (1024 + inodesMiBPerGiB) + tablesMiB) * mebibyte
}
