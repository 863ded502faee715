/** HTTP/2 settings for both ends of a link. The ends trust each other's pace, so the limits are generous but finite. */

/** Flow-control windows of a stream and of the whole connection. */
export const streamWindowBytes = 1024 * 1024
export const connectionWindowBytes = 8 * 1024 * 1024

/** The `:protocol` of a connection to a Dock. */
export const connectProtocol = 'dock-stream'

export const sessionOptions = {
  settings: { initialWindowSize: streamWindowBytes, enablePush: false, maxConcurrentStreams: 20_000 },
  peerMaxConcurrentStreams: 20_000,
  /**
   * In megabytes: no limit. Node never subtracts what a stream still had to send when it was reset (59 KB for a cancelled
   * read of a file, megabytes for a list), and refuses all streams of the session once the sum exceeds the limit. What is
   * held is limited by the windows, the pieces of the bodies, and the calls that the control plane makes.
   */
  maxSessionMemory: 2 ** 20,
  /** Cancelled calls are normal here. The defaults would treat a thousand of them as an attack. */
  streamResetBurst: 100_000,
  streamResetRate: 10_000,
}
