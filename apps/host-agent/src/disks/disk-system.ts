/**
 * What the disk pool asks of the kernel. Two implementations: by system calls (no process is made, some
 * milliseconds less each) and by the usual commands, where the system-call library cannot be loaded.
 */

export type DiskSystem = {
  /** Clones the btrfs subvolume `source` as `destination`, which must not exist. Committed when it answers. */
  snapshot(source: string, destination: string, readOnly: boolean): Promise<void>
  /** Makes an empty subvolume. */
  createSubvolume(path: string): Promise<void>
  /** Removes a subvolume; its space is given back in the background. */
  destroySubvolume(path: string): Promise<void>
  /** Writes out all dirty data of the filesystem at `path`. */
  sync(path: string): Promise<void>
  /** Stops writes on the filesystem mounted at `path` and makes what is on the disk whole. */
  freeze(path: string): Promise<void>
  /** Ends a freeze; harmless when there is none. */
  thaw(path: string): Promise<void>
  /** Attaches the ext4 filesystem in `file` at `path`; answers the kernel's name of the device (`loop7`). */
  mount(file: string, path: string): Promise<string>
  /** Takes the mount away; throws while it is in use. The device goes with its last user. */
  unmount(path: string): Promise<void>
}

/** Options of every Dock's mount: nothing on it may become a device or a privileged program of the host. */
export const diskMountOptions = 'nosuid,nodev,noatime,discard'
