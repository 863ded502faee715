/** Sizes and times of the process keeper. Tests use smaller ones. */

export type KeeperSettings = {
  /** Size of one segment file. Output is dropped by whole segments. */
  segmentBytes: number
  /** Kept output of one stream. */
  streamBytesMax: number
  /** Kept output of all processes of a Dock together. */
  dockBytesMax: number
  /** Kept output of all Docks together, as it lies on the disk. */
  hostBytesMax: number
  /** How long a reader may hold a full stream back without reading anything. */
  holdMs: number
  /** The keeper exits after it has had no open process and no request for this long. */
  idleMs: number
  /** Readers of one Dock at the same time. */
  readersPerDockMax: number
}

const mebibyte = 1024 * 1024

export const keeperDefaults: KeeperSettings = {
  segmentBytes: mebibyte,
  streamBytesMax: 4 * mebibyte,
  dockBytesMax: 64 * mebibyte,
  hostBytesMax: 1024 * mebibyte,
  holdMs: 30_000,
  idleMs: 10 * 60_000,
  readersPerDockMax: 128,
}

/** The part of its filesystem that kept output may take, where the defaults would take more. */
const diskShare = 0.02

/** Returns how much output a host keeps whose filesystem has this size. */
export function hostBytesMaxOn(filesystemBytes: number): number {
  const { dockBytesMax, hostBytesMax } = keeperDefaults
  return Math.max(dockBytesMax, Math.min(hostBytesMax, Math.floor(filesystemBytes * diskShare)))
}
