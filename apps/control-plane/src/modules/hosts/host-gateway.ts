/** The commands that the control plane sends to host agents. The fleet gateway implements this interface. */
import type {
  ByteRange,
  CaptureDock,
  Captured,
  CaptureFile,
  CaptureNote,
  ClonedRepositories,
  CloneRepositories,
  DestroyDock,
  DiskComparison,
  DiskFolder,
  ExecInDock,
  ExecOutcome,
  KeepInstance,
  KeepWarmPool,
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
  UpdateDockEnvironment,
} from '@dock/host-protocol'
import type { HostConnections } from './host-connections.ts'
import type { HostKeptProcesses } from './host-kept-processes.ts'

export type HostGateway = HostConnections &
  HostKeptProcesses & {
    /** Returns the ids of hosts that are connected to this process. */
    hostsWithControlLink(): string[]
    /** Returns the ids of hosts whose bulk link is connected. */
    hostsWithBulkLink(): string[]
    /** Resolves to true as soon as the host is connected, or to false after `withinMs`. */
    waitForControlLink(hostId: string, withinMs: number): Promise<boolean>
    /** Closes the host's session. A host whose credential is still valid reconnects at once. */
    disconnect(hostId: string, reason: string): void
    start(hostId: string, dockId: string, body: StartDock): Promise<StartedDock>
    stop(hostId: string, dockId: string, body: StopDock): Promise<StoppedDock>
    capture(hostId: string, dockId: string, body: CaptureDock): Promise<Captured>
    destroy(hostId: string, dockId: string, body: DestroyDock): Promise<void>
    destroyCapture(hostId: string, captureId: string, operationId: string): Promise<void>
    /** Returns the host's note on a capture. Throws {@link HostRefused} `not_found` if it does not keep the capture. */
    readCaptureNote(hostId: string, captureId: string): Promise<CaptureNote>
    /** With a signal, its abort and a broken link end the command with everything it started. */
    exec(hostId: string, dockId: string, body: ExecInDock, cancelled?: AbortSignal): Promise<ExecOutcome>
    setup(hostId: string, dockId: string, body: SetupDock): Promise<SetupOutcome>
    /** Replaces the variables and secret files of a running Dock. */
    furnish(hostId: string, dockId: string, body: UpdateDockEnvironment): Promise<void>
    /** Clones the repositories that the Dock does not have yet. */
    cloneRepositories(hostId: string, dockId: string, body: CloneRepositories): Promise<ClonedRepositories>
    /** Sends a host the watermark and the erasures that it remembers for the instance. */
    sendInstanceMemory(hostId: string, body: KeepInstance): Promise<void>
    /** Returns what the host remembers for the instance. */
    readInstanceMemory(hostId: string): Promise<KeptInstance>
    /** Sets which kind of Dock the host keeps ready in its warm pool. */
    keepWarmPool(hostId: string, body: KeepWarmPool): Promise<void>
    /** Lists all captures that the host keeps, in batches. The order is not defined. Throws once the signal aborts. */
    listCaptures(hostId: string, signal: AbortSignal): AsyncIterable<string[]>
    /** Lists the regular files of a capture, in batches. The order is not defined. */
    listCaptureFiles(hostId: string, captureId: string): AsyncIterable<CaptureFile[]>
    /** Lists a page of a folder of a capture. Throws {@link HostRefused} `not_found` if there is no such folder. */
    listCaptureFolder(
      hostId: string,
      captureId: string,
      page: { path: string; limit: number; cursor?: string | undefined },
    ): Promise<DiskFolder>
    /** Compares two captures of the host, a bounded amount of work from `cursor` on. */
    compareCaptures(
      hostId: string,
      captureId: string,
      otherId: string,
      cursor: string | undefined,
    ): Promise<DiskComparison>
    /** Reads a file of a capture, or a range of it, over the bulk link. `size` is the size of the whole file in bytes. */
    readCaptureFile(
      hostId: string,
      captureId: string,
      path: string,
      range: ByteRange | null,
    ): Promise<{ size: number; body: ReadableStream<Uint8Array> }>
    /** Returns the size of the capture's disk and the names of its chunks. `keys`: the organization's copy keys. */
    nameChunks(
      hostId: string,
      captureId: string,
      keys: string,
    ): Promise<{ diskBytes: number; chunks: NamedChunk[] }>
    /** Reads the chunks at these positions, sealed, as frames of the copy format. */
    sealChunks(
      hostId: string,
      captureId: string,
      keys: string,
      wanted: readonly number[],
    ): Promise<AsyncIterable<Uint8Array>>
    /** Like {@link HostGateway.nameChunks}, for the disk of an image that the host has. */
    nameImageChunks(
      hostId: string,
      image: string,
      keys: string,
    ): Promise<{ diskBytes: number; chunks: NamedChunk[] }>
    /** Like {@link HostGateway.sealChunks}, for the disk of an image that the host has. */
    sealImageChunks(
      hostId: string,
      image: string,
      keys: string,
      wanted: readonly number[],
    ): Promise<AsyncIterable<Uint8Array>>
    /** Sends the host a published version of an image. It replaces the version that the host has. */
    sendImage(
      hostId: string,
      image: string,
      disk: ReceiveImage,
      frames: AsyncIterable<Uint8Array>,
    ): Promise<void>
    /** Removes an image from the host if it has this version. */
    removeImage(hostId: string, image: string, digest: string): Promise<void>
    /** Creates a capture from frames of the copy format. */
    restoreCapture(
      hostId: string,
      captureId: string,
      disk: RestoreCapture,
      frames: AsyncIterable<Uint8Array>,
    ): Promise<Captured>
  }
