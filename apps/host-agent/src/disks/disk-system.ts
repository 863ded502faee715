/**
 * The kernel operations that the disk pool needs. One implementation uses system calls, which saves a few milliseconds for
 * each operation. The other uses commands, and is used if the system-call library cannot be loaded.
 */

export type DiskSystem = {
  /** Clones the btrfs subvolume `source` as `destination`, which must not exist. On return the clone is committed. */
  snapshot(source: string, destination: string, readOnly: boolean): Promise<void>
  /** Creates an empty subvolume. */
  createSubvolume(path: string): Promise<void>
  /** Removes a subvolume. btrfs frees its space in the background. */
  destroySubvolume(path: string): Promise<void>
  /** Writes out all dirty data of the filesystem at `path`. */
  sync(path: string): Promise<void>
  /** Stops writes to the filesystem mounted at `path` and makes its on-disk state consistent. */
  freeze(path: string): Promise<void>
  /** Ends a freeze. Harmless if the filesystem is not frozen. */
  thaw(path: string): Promise<void>
  /** Mounts the ext4 filesystem in `file` at `path` and returns the kernel's name of its loop device (`loop7`). */
  mount(file: string, path: string): Promise<string>
  /** Unmounts. Throws while the mount is in use. The loop device is removed with its last user. */
  unmount(path: string): Promise<void>
}

/** Mount options of every Dock's disk: no device nodes and no set-uid programs may take effect on the host. */
export const diskMountOptions = 'nosuid,nodev,noatime,discard'
