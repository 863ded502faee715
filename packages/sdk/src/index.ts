/** The SDK of Dock. Start with {@link Dock}. */
export type { CallArguments, CallOptions, CallResult, RouteName } from './call-types.ts'
export { type Client, type ClientOptions, createClient } from './client.ts'
export type { ConnectOptions } from './connect.ts'
export {
  type BranchOptions,
  type CreateOptions,
  type DisposeOptions,
  Dock,
  type ExecOptions,
} from './dock.ts'
export * from './dock-error.ts'
export { DockFiles, type ReadOptions } from './dock-files.ts'
export { type AttachOptions, Process, type SignalName, type WaitOptions } from './dock-process.ts'
export { DockProcesses, type SpawnOptions } from './dock-processes.ts'
export { DockService } from './dock-service.ts'
export { Environments } from './environments.ts'
export type { FileData } from './file-data.ts'
export type * from './generated/route-types.ts'
export type { Dock as DockInfo } from './generated/route-types.ts'
export { type InputData, ProcessInput } from './process-input.ts'
export {
  type OutputChunk,
  type OutputName,
  type OutputOptions,
  ProcessOutputReader,
} from './process-output.ts'
export type { RawBody, RawResponse, RequestOptions } from './request-options.ts'
export { shellWords } from './shell-words.ts'
export { Snapshots } from './snapshots.ts'
export { Templates } from './templates.ts'
export type { FileWatchOptions, WatchedChange } from './watch-files.ts'
