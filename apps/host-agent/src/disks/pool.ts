/**
 * The interface of the host's disk pool. All operations are idempotent: a call that a crash interrupted is
 * repeated, and removing something that does not exist succeeds.
 */
import type { Readable } from 'node:stream'
import type { DiskComparison, DiskFolder } from '@dock/host-protocol'
import type { ArrivingImage } from './images/receive-image.ts'
import type { FillDisk } from './write-new-disk.ts'

/**
 * Where a comparison of two captures goes on: after the entry with this path, or with `block` within that file. Names are
 * bytes as latin1.
 */
export type Place = { names: string[]; block?: number | undefined }

/** Where a new disk is cloned from. */
export type DiskOrigin = { image: string } | { captureId: string }

/** A file to create in a Dock, or a folder if `contents` is missing. */
export type Entry = { path: string; mode: number; uid: number; gid: number; contents?: Buffer }

/** The pool has no room for another disk or capture. */
export class NoSpace extends Error {
  override readonly name = 'NoSpace'
}

/** The pool does not have the image, disk, capture or file. */
export class NotInPool extends Error {
  override readonly name = 'NotInPool'
}

/** Below twice the reserve, no new disk or capture is made. At the reserve, every Dock is frozen. */
export type PoolRoom = { totalBytes: number; freeBytes: number; reserveBytes: number }

/** Throws {@link NoSpace} if the pool has no room for another disk or capture. */
export function requireRoom({ freeBytes, reserveBytes }: PoolRoom): void {
  if (freeBytes < 2 * reserveBytes)
    throw new NoSpace('the disk pool of this host has no room for another disk or capture')
}

/** The host's disk pool. Throws {@link NoSpace} and {@link NotInPool}; any other error is a failure of the host. */
export type DiskPool = {
  /** Clones a disk for the Dock and grows it to `diskGiB`, and marks it as unneeded. An existing disk is kept unchanged. */
  create(dockId: string, wanted: { from: DiskOrigin; diskGiB: number }): Promise<void>
  /** Mounts the Dock's disk and returns its path. If it is already mounted, returns the same path. */
  attach(dockId: string): Promise<{ rootPath: string }>
  /** Returns the path of the Dock's disk, for a runtime that mounts it itself. It must not be attached then. */
  diskFile(dockId: string): Promise<string>
  /** Writes folders and files to the attached disk of a Dock on which no sandbox has run yet. */
  writeEntries(dockId: string, entries: readonly Entry[]): Promise<void>
  /** Syncs and unmounts the disk. On return the kernel no longer uses it. */
  detach(dockId: string): Promise<void>
  /** Writes out the dirty data of an attached disk, so that a capture soon afterwards is quick. */
  flush(dockId: string): Promise<void>
  /** Captures the disk. An attached disk is frozen briefly. On return the capture is on stable storage. */
  capture(dockId: string, captureId: string): Promise<{ sizeBytes: number }>
  /** Removes the Dock's disk after detaching it. */
  remove(dockId: string): Promise<void>
  removeCapture(captureId: string): Promise<void>
  /** Returns how much of an attached disk's filesystem is used, and its size; of another disk, what it takes of the pool. */
  usage(dockId: string): Promise<{ usedBytes: number; sizeBytes: number }>
  has(dockId: string): Promise<boolean>
  /**
   * Marks the disk as unneeded: nobody misses what is on it, because no Dock has used it or a capture holds it. The mark
   * lies in the pool beside the disk. Only a disk with this mark may be removed without an order. A mark that is lost in a
   * crash only keeps a disk.
   */
  markUnneeded(dockId: string): Promise<void>
  /** Removes the mark, because a Dock uses the disk from now on. On return the removal is on stable storage. */
  markNeeded(dockId: string): Promise<void>
  /** True if the disk has the mark. */
  isUnneeded(dockId: string): Promise<boolean>
  list(): Promise<{ disks: string[]; captures: string[] }>
  /** Returns the images that Docks can start from: name to version. */
  images(): Promise<Map<string, string>>
  /** True if the disk was made from the version that the image has now. False if there is no such disk or image. */
  isFromCurrentImage(dockId: string, image: string): Promise<boolean>
  /** Returns the path of an image's disk. The caller must only read it. */
  imageFile(name: string): Promise<string>
  /** Receives a version of an image. Docks are made from the former version until the new one is complete. */
  receiveImage(name: string, arriving: ArrivingImage): Promise<void>
  /** Removes an image if it has this version. Disks that were made from it stay. */
  removeImage(name: string, version: string): Promise<void>
  /** Returns the pool's present free space without waiting. */
  room(): PoolRoom
  /** True if the kernel could not write to the pool and takes no more writes. Only `recover` makes it writable again. */
  isReadOnly(): boolean
  /**
   * Lists the regular files of a capture in batches, in no particular order. `path` begins with a slash, `size` is in
   * bytes.
   */
  walk(captureId: string): AsyncIterable<{ path: string; size: number; inode: number }[]>
  /** Lists a page of a folder of a capture. Throws {@link NotInPool} if there is no such folder. */
  listFolder(
    captureId: string,
    wanted: { path: string; cursor: string | null; limit: number },
  ): Promise<DiskFolder>
  /** Compares two captures from a place on, until a bounded amount of work is done. */
  compare(captureId: string, otherId: string, from: Place | null): Promise<DiskComparison>
  readFile(captureId: string, path: string): Promise<{ size: number; stream: Readable }>
  /** Returns the path of a capture's disk. The caller must only read it. */
  captureFile(captureId: string): Promise<string>
  /**
   * Creates a capture of `diskBytes`: `fill` writes the content to a sparse disk. After a crash the capture is complete or
   * absent. An existing capture is kept unchanged.
   */
  restoreCapture(captureId: string, diskBytes: number, fill: FillDisk): Promise<{ sizeBytes: number }>
  /** At the agent's start: mounts the pool if necessary, thaws every disk, removes incomplete disks. */
  recover(): Promise<void>
}
