/** Implements {@link DiskSystem} with the commands of util-linux and btrfs-progs. */
import { basename } from 'node:path'
import { runCommand, tryCommand } from '@dock/foundation'
import { type DiskSystem, diskMountOptions } from './disk-system.ts'

export const commandDiskSystem: DiskSystem = {
  async snapshot(source, destination, readOnly) {
    const options = readOnly ? ['-r'] : []
    await runCommand('btrfs', ['subvolume', 'snapshot', ...options, source, destination])
    await runCommand('btrfs', ['filesystem', 'sync', destination])
  },
  async createSubvolume(path) {
    await runCommand('btrfs', ['subvolume', 'create', path])
  },
  async destroySubvolume(path) {
    await runCommand('btrfs', ['subvolume', 'delete', path])
  },
  async sync(path) {
    await runCommand('sync', ['-f', path])
  },
  async freeze(path) {
    await runCommand('fsfreeze', ['-f', path])
  },
  async thaw(path) {
    // Ignore failures: fsfreeze has the same exit code for "was not frozen" and all other errors.
    await tryCommand('fsfreeze', ['-u', path])
  },
  async mount(file, path) {
    const attach = ['-f', '--show', '--sector-size', '4096', '--direct-io=on', file]
    const device = (await runCommand('losetup', attach)).trim()
    try {
      await runCommand('mount', ['-t', 'ext4', '-o', diskMountOptions, device, path])
    } finally {
      // While the device is mounted, this only marks it for removal after the unmount.
      await runCommand('losetup', ['-d', device])
    }
    return basename(device)
  },
  async unmount(path) {
    await runCommand('umount', [path])
  },
}
