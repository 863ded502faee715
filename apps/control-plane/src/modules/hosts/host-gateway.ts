/** Calls to host agents, as modules make them. The fleet gateway implements this interface. */
import type { HostCalls, NamedChunk, routes, TargetOf } from '@dock/host-protocol'
import type { ProcessRequest, RemoteProcess } from './remote-process.ts'

/** A Dock on its host. */
export type DockPlace = { hostId: string } & TargetOf<(typeof routes)['start']>
/** A kept process: its host, its Dock, and its id. */
export type KeptPlace = { hostId: string } & TargetOf<(typeof routes)['readKept']>
/** The size of a disk, and the names of the chunks that hold data. */
export type NamedDisk = { diskBytes: number; chunks: NamedChunk[] }

/** What the fleet gateway does with the answer of a call before it returns it. */
type Finished = {
  nameChunks(...sent: Parameters<HostCalls['nameChunks']>): Promise<NamedDisk>
  nameImageChunks(...sent: Parameters<HostCalls['nameImageChunks']>): Promise<NamedDisk>
  /**
   * Starts a program as the Dock's user: `argv`, or a `command` of a login bash, or a login shell. Throws `HostRefused`:
   * `busy` if too many processes run, `exec_refused` if the program or the folder does not exist.
   */
  openProcess(dock: DockPlace, request: ProcessRequest & { generation: number }): Promise<RemoteProcess>
}

export type HostLinks = {
  /** Returns the ids of hosts that are connected to this process. */
  hostsWithControlLink(): string[]
  /** Returns the ids of hosts whose bulk link is connected. */
  hostsWithBulkLink(): string[]
  /** Resolves to true as soon as the host is connected, or to false after `withinMs`. */
  waitForControlLink(hostId: string, withinMs: number): Promise<boolean>
  /** Closes the host's session. A host whose credential is still valid reconnects at once. */
  disconnect(hostId: string, reason: string): void
}

/** The table of calls (`routes` of the host protocol) says what each call sends and returns. */
export type HostGateway = HostLinks &
  Finished &
  Omit<HostCalls, keyof Finished | 'signalProcess' | 'resizeProcess'>

/** The calls for kept processes. */
export type HostKeptProcesses = Pick<HostGateway, Extract<keyof HostGateway, `${string}Kept${string}`>>
