/** Brings a detached disk to another size. */
import { stat, truncate } from 'node:fs/promises'
import { CommandFailed, runCommand, tryCommand } from '@dock/foundation'

/** The data on the disk does not fit the size that was asked for. */
export class DiskTooSmall extends Error {
  override readonly name = 'DiskTooSmall'
}

/** Grows or shrinks the ext4 filesystem in `file`, which nobody has mounted. Throws {@link DiskTooSmall}. */
export const resizeDisk = async (file: string, bytes: number): Promise<void> => {
  const { size } = await stat(file)
  if (size === bytes) return
  if (size < bytes) {
    await truncate(file, bytes)
    await runCommand('resize2fs', ['-f', file])
    return
  }
  const check = await tryCommand('e2fsck', ['-f', '-y', file])
  // 1 and 2 mean that something was corrected.
  if (check.code > 2) throw new CommandFailed('e2fsck', [file], check)
  const shrink = await tryCommand('resize2fs', [file, `${bytes / 1024}K`])
  if (shrink.code !== 0) {
    if (/smaller than minimum|not enough space|No space/i.test(shrink.stderr + shrink.stdout)) {
      throw new DiskTooSmall(`the data on the disk does not fit into ${bytes} bytes`)
    }
    throw new CommandFailed('resize2fs', [file], shrink)
  }
  await truncate(file, bytes)
}
