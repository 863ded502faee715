/** HTTP/2 settings of both ends of a link. The peers trust each other's pace, so the limits are wide but finite. */

/** Bytes in flight for one stream and for the whole connection. */
export const streamWindowBytes = 1024 * 1024
export const connectionWindowBytes = 8 * 1024 * 1024

/** The `:protocol` of a connection to a Dock. */
export const connectProtocol = 'dock-stream'

export const sessionOptions = {
  settings: { initialWindowSize: streamWindowBytes, enablePush: false, maxConcurrentStreams: 20_000 },
  peerMaxConcurrentStreams: 20_000,
  /** Megabytes; the default of 10 refuses streams when a thousand requests wait. */
  maxSessionMemory: 256,
  /** Cancelled calls are ordinary here: the default would take a thousand of them for an attack. */
  streamResetBurst: 100_000,
  streamResetRate: 10_000,
}
