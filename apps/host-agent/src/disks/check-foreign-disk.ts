/**
 * Checks a filesystem from outside before this host's kernel reads it. First the superblock must look like that of our own
 * disks, because e2fsck accepts many dangerous settings. Then e2fsck, as an unprivileged user, must find no other fault.
 */
import { open } from 'node:fs/promises'
import { type DiskLimits, type DiskRun, diskPath, runOnDisk, usualDiskLimits } from './run-on-disk.ts'

/** A disk from outside that must not be mounted. */
export class HostileDisk extends Error {
  override readonly name = 'HostileDisk'
}

const superblockAt = 1024
const superblockBytes = 1024
const magic = 0xef53
const blockBytes = 4096
const journalInode = 8
const errorsPanic = 3
const needsRecovery = 0x4

/**
 * Features that mkfs.ext4 and resize2fs set on our disks, by the offset of their superblock field.
 * compat: has_journal, ext_attr, resize_inode, dir_index, orphan_file. incompat: filetype, needs_recovery, meta_bg, extents,
 * 64bit, flex_bg, metadata_csum_seed. ro_compat: sparse_super, large_file, huge_file, uninit_bg, dir_nlink, extra_isize,
 * metadata_csum, orphan_present.
 */
const allowedFeatures = [
  { at: 0x5c, mask: 0x4 | 0x8 | 0x10 | 0x20 | 0x1000 },
  { at: 0x60, mask: 0x2 | needsRecovery | 0x10 | 0x40 | 0x80 | 0x200 | 0x2000 },
  { at: 0x64, mask: 0x1 | 0x2 | 0x8 | 0x10 | 0x20 | 0x40 | 0x400 | 0x10000 },
]

/** Returns why the superblock is refused, or null. Offsets: struct ext4_super_block in the kernel's fs/ext4/ext4.h. */
const findSuperblockFault = (block: Buffer, diskBytes: number): string | null => {
  if (block.readUInt16LE(0x38) !== magic) return 'is not ext4'
  if (block.readUInt32LE(0x18) !== 2) return 'has a block size other than 4 KiB'
  for (const { at, mask } of allowedFeatures) {
    const others = (block.readUInt32LE(at) & ~mask) >>> 0
    if (others !== 0)
      return `has features that our disks do not have (0x${others.toString(16)} at 0x${at.toString(16)})`
  }
  const is64Bit = (block.readUInt32LE(0x60) & 0x80) !== 0
  const blocks = block.readUInt32LE(0x4) + (is64Bit ? block.readUInt32LE(0x150) * 2 ** 32 : 0)
  if (blocks * blockBytes > diskBytes) return 'is larger than its disk'
  if (block.readUInt16LE(0x3c) === errorsPanic) return 'makes the kernel panic on errors'
  const hasJournal = (block.readUInt32LE(0x5c) & 0x4) !== 0
  if (hasJournal && block.readUInt32LE(0xe0) !== journalInode) return 'has its journal in an unusual inode'
  if (block.readUInt32LE(0xe4) !== 0) return 'has its journal on another device'
  if (block.subarray(0x200, 0x240).some((byte) => byte !== 0)) return 'contains mount options'
  return null
}

/** Returns whether the journal must be replayed. Throws {@link HostileDisk} if the superblock is refused. */
const checkSuperblock = async (file: string): Promise<{ isDirty: boolean }> => {
  const disk = await open(file, 'r')
  try {
    const block = Buffer.alloc(superblockBytes)
    await disk.read(block, 0, superblockBytes, superblockAt)
    const fault = findSuperblockFault(block, (await disk.stat()).size)
    if (fault !== null) throw new HostileDisk(`the filesystem ${fault}`)
    return { isDirty: (block.readUInt32LE(0x60) & needsRecovery) !== 0 }
  } finally {
    await disk.close()
  }
}

const refused = ({ code, signal, output }: DiskRun): HostileDisk =>
  new HostileDisk(`e2fsck ended with ${signal ?? code}: ${output.trim().slice(0, 500)}`)

/**
 * Throws {@link HostileDisk} unless the disk in `file` can be mounted. With `afterPowerCut` the disk may be in the state that
 * a power cut leaves: its journal is replayed, and nothing else is repaired.
 */
export async function checkForeignDisk(
  file: string,
  { afterPowerCut, limits = usualDiskLimits }: { afterPowerCut: boolean; limits?: DiskLimits },
): Promise<void> {
  const { isDirty } = await checkSuperblock(file)
  const look = await runOnDisk('e2fsck', ['-f', '-n', diskPath], file, { limits })
  if (look.code === 0 && look.signal === null && !isDirty) return
  if (!afterPowerCut || look.signal !== null) throw refused(look)
  const mend = await runOnDisk('e2fsck', ['-f', '-p', diskPath], file, { write: true, limits })
  // Exit code 1: e2fsck corrected something.
  if (mend.code > 1 || mend.signal !== null) throw refused(mend)
  // Replaying the journal may have changed the superblock.
  if ((await checkSuperblock(file)).isDirty) throw new HostileDisk('the journal could not be replayed')
}
