/**
 * What the Docks ask of the host's disks and networks. Everything here is idempotent: a call that was cut off by a
 * crash is repeated, and a removal of what is absent succeeds.
 */
import type { Readable } from 'node:stream'
import type { FillDisk } from '../disks/write-new-disk.ts'
import type { ArrivingImage } from '../images/receive-image.ts'

/** Where a new disk is cloned from. */
export type DiskOrigin = { image: string } | { captureId: string }

/** A file, or a folder where there are no contents, to be made at its path in a Dock. */
export type Entry = { path: string; mode: number; uid: number; gid: number; contents?: Buffer }

/** The pool has no room for another disk or capture. */
export class NoSpace extends Error {
  override readonly name = 'NoSpace'
}

/** An image, disk, capture or file that the pool does not hold. */
export class NotInPool extends Error {
  override readonly name = 'NotInPool'
}

/** Below twice the reserve nothing new is made; at the reserve every Dock is stopped from writing more. */
export type PoolRoom = { totalBytes: number; freeBytes: number; reserveBytes: number }

/** Throws {@link NoSpace} when the pool has no room for another disk or capture. */
export function requireRoom({ freeBytes, reserveBytes }: PoolRoom): void {
  if (freeBytes < 2 * reserveBytes) throw new NoSpace('the pool has no room for another disk or capture')
}

/** The host's pool of disks. Throws {@link NoSpace} and {@link NotInPool}; anything else is a failure of the host. */
export type DiskPool = {
  /** Clones a disk for the Dock, grown to `diskGiB`. A disk that is there already is kept as it is. */
  create(dockId: string, wanted: { from: DiskOrigin; diskGiB: number }): Promise<void>
  /** Mounts the Dock's disk; when mounted already, answers the same path. */
  attach(dockId: string): Promise<{ rootPath: string }>
  /** Makes folders and files on the attached disk of a Dock, which no sandbox has had yet. */
  lay(dockId: string, entries: readonly Entry[]): Promise<void>
  /** Syncs and unmounts; nothing of the kernel's hold on the disk is left when it answers. */
  detach(dockId: string): Promise<void>
  /** Writes out what an attached disk's filesystem holds in memory; a capture soon after has little left to write. */
  flush(dockId: string): Promise<void>
  /** Captures the disk, attached (frozen for a moment) or not. On stable storage when it answers. */
  capture(dockId: string, captureId: string): Promise<{ sizeBytes: number }>
  /** Removes the Dock's disk, detaching it first. */
  remove(dockId: string): Promise<void>
  removeCapture(captureId: string): Promise<void>
  /** What the filesystem of an attached disk holds, and could. */
  usage(dockId: string): Promise<{ usedBytes: number; sizeBytes: number }>
  has(dockId: string): Promise<boolean>
  list(): Promise<{ disks: string[]; captures: string[] }>
  /** The images that Docks can start from, by name, each with its version. */
  images(): Promise<Map<string, string>>
  /** Path of an image's disk, to be read only. */
  imageFile(name: string): Promise<string>
  /** Takes in a version of an image; Docks are made from the one of before until it is whole. */
  receiveImage(name: string, arriving: ArrivingImage): Promise<void>
  /** What is left of the pool, now and without a wait. */
  room(): PoolRoom
  /**
   * Regular files of a capture, some at a time: path from the root with a leading slash, size in bytes; in no order to
   * rely on.
   */
  walk(captureId: string): AsyncIterable<{ path: string; size: number; inode: number }[]>
  readFile(captureId: string, path: string): Promise<{ size: number; stream: Readable }>
  /** Path of a capture's disk, to be read only. */
  captureFile(captureId: string): Promise<string>
  /**
   * Makes a capture of `diskBytes` whose content `fill` writes to a disk of holes; whole or absent after a crash. One
   * that is there already is kept as it is.
   */
  restoreCapture(captureId: string, diskBytes: number, fill: FillDisk): Promise<{ sizeBytes: number }>
  /** At the agent's start: mounts the pool when it is not, thaws every disk, drops what is half made. */
  recover(): Promise<void>
}

/** A Dock's network namespace, with addresses and routes. */
export type DockNetwork = { netnsPath: string; ip: string; gateway: string; nameserver: string }

/** The host's networks of Docks. */
export type Networks = {
  /** Makes what all Docks share: forwarding, filter rules, the name forwarder. */
  setUp(): Promise<void>
  /** Makes the Dock's network; when it is there already, answers it. */
  create(dockId: string): Promise<DockNetwork>
  destroy(dockId: string): Promise<void>
  /** Puts addresses and routes back, which a sandbox's start had taken over. */
  restore(dockId: string): Promise<DockNetwork>
  /** The Dock's network, if it has one. */
  find(dockId: string): DockNetwork | null
  /** Bytes that the Dock has received and sent since its network was made. */
  traffic(dockId: string): Promise<{ rxBytes: number; txBytes: number }>
  /** Ids of the Docks that have a network. */
  list(): Promise<string[]>
  /** Removes what {@link Networks.setUp} made. Docks' own networks must be gone. */
  tearDown(): Promise<void>
}
