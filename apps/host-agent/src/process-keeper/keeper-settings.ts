/** Sizes and times of the process keeper. Tests use smaller ones. */

export type KeeperSettings = {
  /** Size of one segment file. Output is dropped by whole segments. */
  segmentBytes: number
  /** Kept output of one stream. */
  streamBytesMax: number
  /** Kept output of all processes of a Dock together. */
  dockBytesMax: number
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
  holdMs: 30_000,
  idleMs: 10 * 60_000,
  readersPerDockMax: 128,
}
