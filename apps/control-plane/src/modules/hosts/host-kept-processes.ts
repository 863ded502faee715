/** Kept processes of Docks over a host's link. The fleet gateway implements this interface. */
import type { Readable } from 'node:stream'
import type {
  KeptInputOffset,
  KeptProcess,
  KeptStream,
  SignalKeptProcess,
  StartKeptProcess,
} from '@dock/host-protocol'
import type { TerminalSize } from './host-connections.ts'

/** Names a process: its host, its Dock, and its id. */
export type KeptPlace = { hostId: string; dockId: string; processId: string }

/** `first` is the offset of the first kept byte, `start` that of the first byte of `body`. */
export type KeptOutputStream = { first: number; start: number; body: Readable }

export type HostKeptProcesses = {
  /** Repeating it with the same id returns the same process. Throws `HostRefused` `busy` and `exec_refused`. */
  startKept(hostId: string, dockId: string, request: StartKeptProcess): Promise<KeptProcess>
  listKept(hostId: string, dockId: string): Promise<KeptProcess[]>
  /** All of the following throw `HostRefused` `not_found` if the host has no such process. */
  readKept(place: KeptPlace): Promise<KeptProcess>
  /** Returns the process once it has ended, or as it is after `ms`. */
  waitForKept(place: KeptPlace, ms: number): Promise<KeptProcess>
  signalKept(place: KeptPlace, signal: SignalKeptProcess): Promise<void>
  resizeKept(place: KeptPlace, size: TerminalSize): Promise<void>
  /** Destroying the body ends the reading. The body fails if the link breaks. Throws `conflict` beyond the end. */
  openKeptOutput(
    place: KeptPlace,
    stream: KeptStream,
    from: { offset: number; follow: boolean },
  ): Promise<KeptOutputStream>
  /** Returns the offset of the next byte. Throws `conflict` for a gap, and if the input is closed. */
  writeKeptInput(place: KeptPlace, offset: KeptInputOffset, body: Readable): Promise<{ offset: number }>
  closeKeptInput(place: KeptPlace): Promise<void>
}
