export {
  type AgentAnswer,
  type AgentLink,
  type AgentStream,
  acceptLink,
  type RequestOptions,
  type StreamOptions,
} from './accept-link.ts'
export {
  type ByteRange,
  parseByteRange,
  placeByteRange,
  writeByteRange,
} from './byte-range.ts'
export * from './capture-messages.ts'
export type { ConnectOptions } from './connect-over-link.ts'
export {
  bindArrived,
  createDialBackListener,
  type DialBackListener,
  dialBackPath,
  dialBackProtocol,
} from './dial-back.ts'
export { type DialEnd, type DialOptions, dialLink, type LinkChannel } from './dial-link.ts'
export { diskBytesOf } from './disk-size.ts'
export * from './environment-messages.ts'
export { type ClientParts, createHostCalls, type HostCalls } from './host-calls.ts'
export * from './image-messages.ts'
export * from './kept-process-messages.ts'
export { encodeMessage, readMessage } from './length-prefixed.ts'
export { HostNotLinked, HostRefused, HostUnreachable, LinkTimeout } from './link-errors.ts'
export type { LivenessTimes } from './link-liveness.ts'
export type { LinkSocket } from './link-socket.ts'
export * from './messages.ts'
export {
  encodeFrame,
  type FrameHandlers,
  FrameReader,
  frameKinds,
  writeFrame,
} from './process-frames.ts'
export * from './process-messages.ts'
export * from './quarantine-messages.ts'
export { readEvent } from './read-event.ts'
export { readLines } from './read-lines.ts'
export { refusalOf } from './refusal-of.ts'
export * from './repository-messages.ts'
export {
  type Caller,
  type CallOptions,
  type Handler,
  pathParameters,
  type Route,
  type TargetOf,
} from './route.ts'
export { routes } from './routes.ts'
export * from './self-test-messages.ts'
export type { ConnectHandler, IncomingConnection } from './serve-connection.ts'
export { type LinkHandler, type LinkService, serveLink } from './serve-link.ts'
export * from './setup-messages.ts'
export { LineTooLong, splitLines } from './split-lines.ts'
export * from './warm-pool-messages.ts'
