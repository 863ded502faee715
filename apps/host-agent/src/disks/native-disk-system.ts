/** Implements {@link DiskSystem} with system calls of the 64-bit Linux ABI (linux/loop.h, linux/btrfs.h, linux/fs.h). */
import { type FileHandle, open } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { DiskSystem } from './disk-system.ts'

const FIFREEZE = 0xc0045877
const FITHAW = 0xc0045878
const LOOP_CTL_GET_FREE = 0x4c82
const LOOP_CONFIGURE = 0x4c0a
const BTRFS_SNAP_CREATE_V2 = 0x50009417
const BTRFS_SUBVOL_CREATE = 0x5000940e
const BTRFS_SNAP_DESTROY = 0x5000940f
const BTRFS_SUBVOL_RDONLY = 2n
const LO_FLAGS_AUTOCLEAR = 4
const LO_FLAGS_DIRECT_IO = 16
const MS_NOSUID_NODEV_NOATIME = 2 | 4 | 1024
const EBUSY = 16
const EINVAL = 22

/** A system call failed. */
export class SystemCallFailed extends Error {
  readonly errno: number
  constructor(call: string, subject: string, errno: number) {
    super(`${call} ${subject}: errno ${errno}`)
    this.name = 'SystemCallFailed'
    this.errno = errno
  }
}

type AsyncFunction = { async: (...args: unknown[]) => void }

const withFile = async <T>(
  path: string,
  flags: string,
  use: (file: FileHandle) => Promise<T>,
): Promise<T> => {
  const file = await open(path, flags)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

/** Returns a struct loop_config: 4096-byte sectors, direct I/O, removed with its last user (autoclear). */
const loopConfiguration = (descriptor: number): Buffer => {
  const config = Buffer.alloc(304)
  config.writeUInt32LE(descriptor, 0)
  config.writeUInt32LE(4096, 4)
  config.writeUInt32LE(LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO, 8 + 52)
  return config
}

/** Returns a struct btrfs_ioctl_vol_args (or _v2) with the name at offset `at`. */
const volumeArguments = (path: string, at: number): Buffer => {
  const volume = Buffer.alloc(4096)
  volume.write(basename(path), at, 'utf8')
  return volume
}

/** Loads the C library. Throws if it cannot be loaded on this machine. */
export async function openNativeDiskSystem(): Promise<DiskSystem> {
  const koffi = (await import('koffi')).default
  const libc = koffi.load('libc.so.6')
  const ioctlFunction = libc.func('int ioctl(int fd, unsigned long request, void *argument)') as AsyncFunction
  const mountFunction = libc.func(
    'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
  ) as AsyncFunction
  const umountFunction = libc.func('int umount2(const char *target, int flags)') as AsyncFunction
  const syncfsFunction = libc.func('int syncfs(int fd)') as AsyncFunction

  // Runs on a worker thread, because freezing, syncing and mounting wait for the disk.
  const call = (name: string, subject: string, fn: AsyncFunction, ...args: unknown[]): Promise<number> =>
    new Promise((resolve, reject) =>
      fn.async(...args, (error: Error | null, result: number) => {
        if (error) reject(error)
        else if (result < 0) reject(new SystemCallFailed(name, subject, koffi.errno()))
        else resolve(result)
      }),
    )
  const ioctl = (file: FileHandle, name: string, subject: string, request: number, argument: Buffer | null) =>
    call(name, subject, ioctlFunction, file.fd, request, argument)

  const attachLoop = async (file: string, use: (device: string) => Promise<void>): Promise<string> => {
    for (let attempt = 0; ; attempt++) {
      const number = await withFile('/dev/loop-control', 'r+', (control) =>
        ioctl(control, 'LOOP_CTL_GET_FREE', file, LOOP_CTL_GET_FREE, null),
      )
      const device = `/dev/loop${number}`
      try {
        await withFile(device, 'r+', async (loop) => {
          await withFile(file, 'r+', (backing) =>
            ioctl(loop, 'LOOP_CONFIGURE', file, LOOP_CONFIGURE, loopConfiguration(backing.fd)),
          )
          await use(device)
        })
        return basename(device)
      } catch (error) {
        // Another process may take the same free device between the two calls.
        const taken = error instanceof SystemCallFailed && error.message.startsWith('LOOP_CONFIGURE')
        if (!(taken && error.errno === EBUSY && attempt < 50)) throw error
      }
    }
  }

  return {
    async snapshot(source, destination, readOnly) {
      await withFile(source, 'r', (volume) =>
        withFile(dirname(destination), 'r', async (folder) => {
          const argument = volumeArguments(destination, 56)
          argument.writeBigInt64LE(BigInt(volume.fd), 0)
          argument.writeBigUInt64LE(readOnly ? BTRFS_SUBVOL_RDONLY : 0n, 16)
          await ioctl(folder, 'BTRFS_IOC_SNAP_CREATE_V2', destination, BTRFS_SNAP_CREATE_V2, argument)
        }),
      )
    },
    async createSubvolume(path) {
      await withFile(dirname(path), 'r', (folder) =>
        ioctl(folder, 'BTRFS_IOC_SUBVOL_CREATE', path, BTRFS_SUBVOL_CREATE, volumeArguments(path, 8)),
      )
    },
    async destroySubvolume(path) {
      await withFile(dirname(path), 'r', (folder) =>
        ioctl(folder, 'BTRFS_IOC_SNAP_DESTROY', path, BTRFS_SNAP_DESTROY, volumeArguments(path, 8)),
      )
    },
    async sync(path) {
      await withFile(path, 'r', (file) => call('syncfs', path, syncfsFunction, file.fd))
    },
    async freeze(path) {
      await withFile(path, 'r', (file) => ioctl(file, 'FIFREEZE', path, FIFREEZE, null))
    },
    async thaw(path) {
      await withFile(path, 'r', async (file) => {
        try {
          await ioctl(file, 'FITHAW', path, FITHAW, null)
        } catch (error) {
          if (!(error instanceof SystemCallFailed && error.errno === EINVAL)) throw error
        }
      })
    },
    mount: (file, path) =>
      attachLoop(file, async (device) => {
        await call('mount', path, mountFunction, device, path, 'ext4', MS_NOSUID_NODEV_NOATIME, 'discard')
      }),
    async unmount(path) {
      await call('umount', path, umountFunction, path, 0)
    },
  }
}
