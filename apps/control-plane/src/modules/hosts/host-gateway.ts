/** How the control plane speaks to the agents: one call for each command, by host id. The fleet gateway implements it. */
import type {
  AgentErrorCode,
  ByteRange,
  CaptureDock,
  Captured,
  CaptureFile,
  CaptureNote,
  ClonedRepositories,
  CloneRepositories,
  DestroyDock,
  ExecInDock,
  ExecOutcome,
  FurnishDock,
  KeepInstance,
  KeepPool,
  KeptInstance,
  NamedChunk,
  ReceiveImage,
  RestoreCapture,
  SetupDock,
  SetupOutcome,
  StartDock,
  StartedDock,
  StopDock,
  StoppedDock,
} from '@dock/host-protocol'
import type { HostConnections } from './host-connections.ts'

export type HostGateway = HostConnections & {
  /** Hosts with a live link in this process. */
  linked(): string[]
  /** Those whose link for bytes lives. */
  linkedInBulk(): string[]
  /** Resolves to true as soon as the host has a live link, to false when it has none within the time. */
  whenLinked(hostId: string, withinMs: number): Promise<boolean>
  /** Closes the host's session; a host whose credential is still good begins a new one at once. */
  disconnect(hostId: string, reason: string): void
  start(hostId: string, dockId: string, body: StartDock): Promise<StartedDock>
  stop(hostId: string, dockId: string, body: StopDock): Promise<StoppedDock>
  capture(hostId: string, dockId: string, body: CaptureDock): Promise<Captured>
  destroy(hostId: string, dockId: string, body: DestroyDock): Promise<void>
  destroyCapture(hostId: string, captureId: string, operationId: string): Promise<void>
  /** What the host noted of a capture. Throws {@link HostRefused} `not_found` where it keeps none. */
  captureNote(hostId: string, captureId: string): Promise<CaptureNote>
  exec(hostId: string, dockId: string, body: ExecInDock): Promise<ExecOutcome>
  setup(hostId: string, dockId: string, body: SetupDock): Promise<SetupOutcome>
  /** Gives a running Dock variables and secret files in place of those it has. */
  furnish(hostId: string, dockId: string, body: FurnishDock): Promise<void>
  /** Clones the repositories that are not there yet. */
  cloneRepositories(hostId: string, dockId: string, body: CloneRepositories): Promise<ClonedRepositories>
  /** Tells a host what to remember of the instance. */
  keepInstance(hostId: string, body: KeepInstance): Promise<void>
  /** What the host remembers of the instance. */
  keptInstance(hostId: string): Promise<KeptInstance>
  /** Tells a host what to keep ready in its warm pool. */
  keepPool(hostId: string, body: KeepPool): Promise<void>
  /** All captures that the host keeps, some at a time, in no order to rely on. An abort cancels the list, which then throws. */
  listCaptures(hostId: string, signal: AbortSignal): AsyncIterable<string[]>
  /** Regular files of a capture, some at a time, in no order to rely on. */
  tree(hostId: string, captureId: string): AsyncIterable<CaptureFile[]>
  /** The bytes of one file of a capture, or those of a range of it, over the bulk link; `size` is the whole file's. */
  file(
    hostId: string,
    captureId: string,
    path: string,
    range: ByteRange | null,
  ): Promise<{ size: number; body: ReadableStream<Uint8Array> }>
  /** Size of the capture's disk and the names of its chunks. `keys`: the secret of the organization's copies. */
  nameChunks(
    hostId: string,
    captureId: string,
    keys: string,
  ): Promise<{ diskBytes: number; chunks: NamedChunk[] }>
  /** The chunks at these positions, sealed, as frames of the copy format. */
  sealChunks(
    hostId: string,
    captureId: string,
    keys: string,
    wanted: readonly number[],
  ): Promise<AsyncIterable<Uint8Array>>
  /** As {@link HostGateway.nameChunks}, of the disk of an image that the host has. */
  nameImageChunks(
    hostId: string,
    image: string,
    keys: string,
  ): Promise<{ diskBytes: number; chunks: NamedChunk[] }>
  /** As {@link HostGateway.sealChunks}, of the disk of an image that the host has. */
  sealImageChunks(
    hostId: string,
    image: string,
    keys: string,
    wanted: readonly number[],
  ): Promise<AsyncIterable<Uint8Array>>
  /** Gives the host a published version of an image, in place of the one that it has. */
  sendImage(
    hostId: string,
    image: string,
    disk: ReceiveImage,
    frames: AsyncIterable<Uint8Array>,
  ): Promise<void>
  /** Makes a capture from frames of the copy format. */
  restoreCapture(
    hostId: string,
    captureId: string,
    disk: RestoreCapture,
    frames: AsyncIterable<Uint8Array>,
  ): Promise<Captured>
}

/** The link broke while the call was under way: whether the command was done is unknown. */
export class HostUnreachable extends Error {
  override readonly name = 'HostUnreachable'
}

/** No link to the host: the command was never sent. */
export class HostNotLinked extends HostUnreachable {}

/** The agent answered, and refused or failed the command. */
export class HostRefused extends Error {
  override readonly name = 'HostRefused'
  readonly code: AgentErrorCode
  constructor(code: AgentErrorCode, message: string) {
    super(message)
    this.code = code
  }
}
