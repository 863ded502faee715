/** Resizes a detached disk. */
import { stat, truncate } from 'node:fs/promises'
import { type DiskRun, diskPath, runOnDisk } from './run-on-disk.ts'

/** The data on the disk does not fit into the requested size. */
export class DiskTooSmall extends Error {
  override readonly name = 'DiskTooSmall'
}

/** Runs a program that reads data a guest may have written, without privileges. */
const run = async (program: string, args: readonly string[], file: string): Promise<DiskRun> =>
  runOnDisk(program, args, file, { write: true })

const failed = (program: string, file: string, { code, signal, output }: DiskRun): Error =>
  new Error(`${program} ${file}: exit ${signal ?? code}: ${output.trim().slice(0, 2000)}`)

/** Grows or shrinks the ext4 filesystem in `file`, which must not be mounted. Throws {@link DiskTooSmall}. */
export async function resizeDisk(file: string, bytes: number): Promise<void> {
  const { size } = await stat(file)
  if (size === bytes) return
  if (size < bytes) {
    await truncate(file, bytes)
    const grown = await run('resize2fs', ['-f', diskPath], file)
    if (grown.code !== 0) throw failed('resize2fs', file, grown)
    return
  }
  const check = await run('e2fsck', ['-f', '-y', diskPath], file)
  // Exit codes 1 and 2: e2fsck corrected something.
  if (check.code > 2) throw failed('e2fsck', file, check)
  const shrink = await run('resize2fs', [diskPath, `${bytes / 1024}K`], file)
  if (shrink.code !== 0) {
    if (/smaller than minimum|not enough space|No space/i.test(shrink.output)) {
      throw new DiskTooSmall(`the data on the disk does not fit into ${bytes} bytes`)
    }
    throw failed('resize2fs', file, shrink)
  }
  await truncate(file, bytes)
}
