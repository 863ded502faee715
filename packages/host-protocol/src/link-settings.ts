/** HTTP/2 settings for both ends of a link. The ends trust each other's pace, so the limits are generous but finite. */

/** Flow-control windows of a stream and of the whole connection. */
export const streamWindowBytes = 1024 * 1024
export const connectionWindowBytes = 8 * 1024 * 1024

/** The `:protocol` of a connection to a Dock. */
export const connectProtocol = 'dock-stream'

export const sessionOptions = {
  settings: { initialWindowSize: streamWindowBytes, enablePush: false, maxConcurrentStreams: 20_000 },
  peerMaxConcurrentStreams: 20_000,
  /** In megabytes. The default of 10 refuses streams when a thousand requests are pending. */
  maxSessionMemory: 256,
  /** Cancelled calls are normal here. The defaults would treat a thousand of them as an attack. */
  streamResetBurst: 100_000,
  streamResetRate: 10_000,
}
