/**
 * Every call of the control plane to a host agent, and the events of an agent. The control plane's client
 * ({@link createHostCalls}), the bindings in the agent and the fakes of the tests follow from this table. To add a call,
 * add its row here, its handler in the agent, and its caller.
 *
 * The control plane is the HTTP/2 client on the links that an agent opens. Commands to a Dock carry an operation id and a
 * generation. They are idempotent, and a command with an older generation is refused (`stale_generation`). The other end
 * may be newer, so readers ignore fields and events that they do not know.
 */
import * as capture from './capture-messages.ts'
import { applyEnvironment } from './environment-messages.ts'
import * as image from './image-messages.ts'
import * as kept from './kept-process-messages.ts'
import * as message from './messages.ts'
import * as process from './process-messages.ts'
import { captureNote, keepInstance, keptInstance } from './quarantine-messages.ts'
import { clonedRepositories, cloneRepositories } from './repository-messages.ts'
import type { Route } from './route.ts'
import { runtimeTest, testRuntime } from './self-test-messages.ts'
import { setupDock, setupOutcome } from './setup-messages.ts'
import { keepWarmPool } from './warm-pool-messages.ts'

const commandMs = 60_000
const startMs = 120_000
const captureMs = 300_000
const connectMs = 30_000
const controlMs = 10_000
/** Added to a command's own timeout: the runtime may take 30 s to kill the process tree before it reports the timeout. */
const graceMs = 45_000
const untilTimeout = ({ timeoutMs }: { timeoutMs: number }): number => timeoutMs + graceMs

const usual = {
  query: null,
  body: null,
  answer: null,
  headers: {},
  channel: 'control',
  timeoutMs: commandMs,
  isOrder: false,
  carriesEpoch: false,
  dialsBack: false,
} as const
type Rest = Partial<Omit<Route, 'kind' | 'method' | 'path'>>
/** A row with the fields of `Defaults` that it does not set itself. */
type Row<Defaults, Given> = Omit<Defaults, keyof Given> & Given

const row = <const Defaults extends Partial<Route>, const Given extends Partial<Route>>(
  defaults: Defaults,
  given: Given,
): Row<typeof usual, Row<Defaults, Given>> => ({ ...usual, ...defaults, ...given })

const get = <const Path extends Route['path'], const Given extends Rest>(path: Path, given: Given) =>
  row({ kind: 'json', method: 'GET', path }, given)
const post = <const Path extends Route['path'], const Given extends Rest>(path: Path, given: Given) =>
  row({ kind: 'json', method: 'POST', path }, given)
const connect = <const Path extends Route['path'], const Given extends Rest>(path: Path, given: Given) =>
  row({ kind: 'connection', method: 'CONNECT', path, channel: 'bulk', timeoutMs: connectMs }, given)
/** A call that moves much data. It uses the bulk link, so that it delays no command and no heartbeat. */
const transfer = <const Given extends Pick<Route, 'kind' | 'method' | 'path'> & Rest>(given: Given) =>
  row({ channel: 'bulk', timeoutMs: null }, given)

export const routes = {
  /** Creates disk, network and sandbox. Returns when the Dock can run a command. */
  start: post('/docks/:dockId/start', {
    body: message.startDock,
    answer: message.startedDock,
    timeoutMs: startMs,
    isOrder: true,
  }),
  /** Ends the sandbox. With `captureId`, captures and syncs the disk, then removes it. */
  stop: post('/docks/:dockId/stop', {
    body: message.stopDock,
    answer: message.stoppedDock,
    timeoutMs: captureMs,
    isOrder: true,
  }),
  /** Captures the disk of a running Dock, which keeps running. */
  capture: post('/docks/:dockId/capture', {
    body: message.captureDock,
    answer: message.captured,
    timeoutMs: captureMs,
    isOrder: true,
  }),
  /**
   * Removes sandbox, network and disk, and keeps captures. With `keepOlder` it undoes the start of this generation: a used
   * disk that this generation did not make stays, with what runs on it, and the command is refused (`not_found`).
   */
  destroy: post('/docks/:dockId/destroy', { body: message.destroyDock, isOrder: true, carriesEpoch: true }),
  /** Runs a command under a login bash as the Dock user. */
  exec: post('/docks/:dockId/exec', {
    body: message.execInDock,
    answer: message.execOutcome,
    timeoutMs: untilTimeout,
  }),
  /**
   * Runs the script as the Dock user in the default working folder. Its output goes to /home/user/.dock/setup.log, which
   * the user can only read. Returns when the script ends. Repeating the call joins the run of the same operation, even
   * after the link or the agent was lost. Refused with `not_running` if the Dock ends first.
   */
  setup: post('/docks/:dockId/setup', { body: setupDock, answer: setupOutcome, timeoutMs: untilTimeout }),
  /** Replaces the variables and secret files of a running Dock. */
  applyEnvironment: post('/docks/:dockId/environment', { body: applyEnvironment }),
  /**
   * Configures git to reach these repositories through the git door, and clones those that are missing. Existing clones
   * are unchanged, so the command is idempotent.
   */
  cloneRepositories: post('/docks/:dockId/repositories', {
    body: cloneRepositories,
    answer: clonedRepositories,
    timeoutMs: untilTimeout,
  }),

  /**
   * Stores the watermark and adds the erasures to those that the host has. An epoch older than the stored one is refused
   * (`stale_generation`).
   */
  sendInstanceMemory: post('/instance', { body: keepInstance }),
  /** Returns what the host stored for the instance. */
  readInstanceMemory: get('/instance', { answer: keptInstance }),
  /** Sent after each report: the kind of sandbox that the host keeps ready from now on. */
  keepWarmPool: post('/pool', { body: keepWarmPool }),
  /** Boots a sandbox that no Dock gets, measures it, and removes it. Refused with `busy` while another test runs. */
  testRuntime: post('/self-test', { body: testRuntime, answer: runtimeTest, timeoutMs: startMs }),

  /**
   * Starts a program as the Dock's user. The caller chooses `processId`. Refused with `busy` if
   * {@link attachedProcessesMax} processes run, with `exec_refused` if the program does not start. Both directions are
   * frames (process-frames.ts): upwards the program's input, downwards both outputs and a {@link processEnd}, each ended by
   * a frame of its own. If the connection ends earlier, the agent hangs up: it sends HUP to the program's process group.
   * The shell of a person stays on the link: it is often silent for long, and only a link is pinged, so that a proxy between
   * keeps it.
   */
  openProcess: connect('/docks/:dockId/processes/:processId', {
    query: process.processQuery,
    body: process.openProcess,
    dialsBack: ({ pty, command, argv }: process.OpenProcess) =>
      !(pty && command === undefined && argv === undefined),
  }),
  /** Signals the program's process group. Does nothing after its end. */
  signalProcess: post('/docks/:dockId/processes/:processId/signal', {
    body: process.signalProcess,
    channel: 'bulk',
    timeoutMs: controlMs,
  }),
  /** Does nothing without a pseudo-terminal, or after the end. */
  resizeProcess: post('/docks/:dockId/processes/:processId/resize', {
    body: process.terminalSize,
    channel: 'bulk',
    timeoutMs: controlMs,
  }),
  /**
   * Opens a TCP connection to that port inside the Dock, even if the program listens only on the Dock's loopback. Refused
   * with `not_found` if nothing listens on the port.
   */
  connectPort: connect('/docks/:dockId/ports/:port', { query: process.connectPort, dialsBack: true }),
  /** Takes over the connection that a `git.connected` event announced. Refused with `not_found` if it is closed. */
  connectGit: connect('/docks/:dockId/git/:connectionId', {}),

  /**
   * Starts a kept process: one that outlives the request, the link, the agent and the control plane. Its output is kept on
   * the host, so that it can be read again by offset. Repeating the call with the same id returns the same process. Refused
   * with `busy` if {@link keptRunningMax} run, with `exec_refused` if the program does not start.
   */
  startKept: post('/docks/:dockId/kept', { body: kept.startKeptProcess, answer: kept.keptProcess }),
  listKept: get('/docks/:dockId/kept', { answer: kept.keptProcesses }),
  /** All calls for one kept process are refused with `not_found` if the host has none with this id. */
  readKept: get('/docks/:dockId/kept/:processId', { answer: kept.keptProcess }),
  /** Returns the process once it has ended, or as it is after `ms`. */
  waitForKept: get('/docks/:dockId/kept/:processId/wait', {
    query: kept.waitQuery,
    answer: kept.keptProcess,
    timeoutMs: ({ ms }: { ms: number }) => ms + commandMs,
  }),
  signalKept: post('/docks/:dockId/kept/:processId/signal', { body: kept.signalKeptProcess }),
  resizeKept: post('/docks/:dockId/kept/:processId/resize', { body: process.terminalSize }),
  /**
   * Returns the output from the offset on. `first` is the offset of the first byte that is kept, `start` that of the first
   * byte of the body. Refused with `conflict` if the offset is beyond the end.
   */
  openKeptOutput: transfer({
    kind: 'bytes',
    method: 'GET',
    path: '/docks/:dockId/kept/:processId/output/:stream',
    query: kept.keptOutputQuery,
    headers: { first: kept.firstOffsetHeader, start: kept.startOffsetHeader },
  }),
  /**
   * Writes to the program's input, and returns the next offset. Bytes before the next offset are left out; a gap is a
   * `conflict`. With the offset `next`, each piece is written as it arrives, after what others have written until then.
   */
  writeKeptInput: transfer({
    kind: 'upload',
    method: 'POST',
    path: '/docks/:dockId/kept/:processId/stdin',
    query: kept.keptInputQuery,
    answer: kept.keptInput,
  }),
  closeKeptInput: post('/docks/:dockId/kept/:processId/stdin/close', {}),

  /**
   * Lists all captures that the host keeps, one page a line, in no particular order. It uses the control link: handling an
   * inventory needs it, possibly before the bulk link is up.
   */
  listCaptures: transfer({
    kind: 'lines',
    method: 'GET',
    path: '/captures',
    answer: capture.capturePage,
    channel: 'control',
  }),
  /** Removes a capture, if it exists. */
  destroyCapture: post('/captures/:captureId/destroy', {
    body: message.destroyCapture,
    isOrder: true,
    carriesEpoch: true,
  }),
  /** Returns the host's note of the Dock that the capture belongs to. */
  readCaptureNote: get('/captures/:captureId/note', { answer: captureNote }),
  /** Lists the regular files, in no particular order. */
  listCaptureFiles: transfer({
    kind: 'lines',
    method: 'GET',
    path: '/captures/:captureId/tree',
    answer: capture.captureFile,
  }),
  /** Lists a page of a folder, sorted by the bytes of the names. Refused with `not_found` if there is no such folder. */
  listCaptureFolder: get('/captures/:captureId/folder', {
    query: capture.folderQuery,
    answer: capture.diskFolder,
    channel: 'bulk',
    timeoutMs: null,
  }),
  /**
   * Compares the capture with the capture `to`, from the cursor on. The work of one request is bounded, so a page may be
   * empty and still have a `nextCursor`.
   */
  compareCaptures: get('/captures/:captureId/changes', {
    query: capture.changesQuery,
    answer: capture.diskComparison,
    channel: 'bulk',
    timeoutMs: null,
  }),
  /**
   * Returns a file, or the existing part of the range. `size` is the size of the whole file, `length` that of the body.
   * Refused with `invalid` if the path names no regular file.
   */
  readCaptureFile: transfer({
    kind: 'bytes',
    method: 'GET',
    path: '/captures/:captureId/files',
    query: capture.fileQuery,
    headers: { size: 'x-file-size', length: 'content-length' },
  }),
  /** Returns the disk's size, then every chunk that holds data, in disk order. */
  nameChunks: transfer({
    kind: 'lines',
    method: 'POST',
    path: '/captures/:captureId/chunk-names',
    body: capture.nameChunks,
    answer: capture.namedLine,
  }),
  /** Returns the sealed chunks at these positions, as frames of the copy format. */
  sealChunks: transfer({
    kind: 'bytes',
    method: 'POST',
    path: '/captures/:captureId/chunks',
    body: capture.sealChunks,
  }),
  /** Creates the capture from frames of the copy format, and verifies every chunk. An existing capture is kept. */
  restoreCapture: transfer({
    kind: 'upload',
    method: 'POST',
    path: '/captures/:captureId/restore',
    body: capture.restoreCapture,
    answer: message.captured,
  }),

  /** Like `nameChunks`, for the disk of an image. */
  nameImageChunks: transfer({
    kind: 'lines',
    method: 'POST',
    path: '/images/:image/chunk-names',
    body: capture.nameChunks,
    answer: capture.namedLine,
  }),
  /** Like `sealChunks`, for the disk of an image. */
  sealImageChunks: transfer({
    kind: 'bytes',
    method: 'POST',
    path: '/images/:image/chunks',
    body: capture.sealChunks,
  }),
  /**
   * Receives a published version as frames of the copy format. The host verifies every chunk and the digest of the whole
   * disk before it replaces the previous version.
   */
  sendImage: transfer({
    kind: 'upload',
    method: 'POST',
    path: '/images/:image/receive',
    body: image.receiveImage,
  }),
  /** Removes the image if this is its version. Docks made from it keep their disks. */
  removeImage: post('/images/:image/remove', { body: image.removeImage, isOrder: true, carriesEpoch: true }),

  /** The events of the host: see {@link hostEvent}. */
  events: row(
    { timeoutMs: null },
    { kind: 'events', method: 'GET', path: '/events', answer: message.hostEvent },
  ),
} satisfies Record<string, Route>
