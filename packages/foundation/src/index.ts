export { bodyOf } from './body-of.ts'
export { type Clock, systemClock } from './clock.ts'
export { compileOnly } from './compile-only.ts'
export { Emitter } from './emitter.ts'
export { faultPoint, faultsArmed } from './fault-point.ts'
export { withFaultSteps } from './fault-steps.ts'
export { guardProcess, isStreamError, runDescribed } from './guard-process.ts'
export { isUuid, newOperationId, newUuid, randomBase32, toBase62 } from './ids.ts'
export {
  type IpAddress,
  type IpNetwork,
  isInNetwork,
  isSameAddress,
  networkOf,
  parseIp,
  parseNetwork,
  unmapAddress,
  wideNetworkOf,
} from './ip-address.ts'
export { createJsonCounter } from './json-counter.ts'
export { logConsole } from './log-console.ts'
export { createLogger, type Logger } from './logger.ts'
export { listMailNotices } from './mail-notices.ts'
export { mapAsync } from './map-async.ts'
export { noticeLostPeers } from './notice-lost-peers.ts'
export {
  type Identity,
  makeOwnFolder,
  readOwnFile,
  requireOwnFolder,
  runInFolderOf,
} from './own-folder.ts'
export { Precedence, throttleLargeStream, throttleReading } from './precedence.ts'
export { readableName } from './readable-name.ts'
export { readableOf } from './readable-of.ts'
export { destroySoon, refuseSocket } from './refuse-socket.ts'
export { removeControlGroups } from './remove-control-groups.ts'
export { dialledAddress, type JsonAnswer, requestJson } from './request-json.ts'
export { rotateLogs } from './rotate-logs.ts'
export {
  CommandFailed,
  type CommandOptions,
  type CommandResult,
  runCommand,
  tryCommand,
} from './run-command.ts'
export { createSerial } from './serial.ts'
export { type DetachedProgram, isUnserved, startDetached } from './start-detached.ts'
export { waitAtMost } from './wait-at-most.ts'
export { writeFileDurably } from './write-file-durably.ts'
