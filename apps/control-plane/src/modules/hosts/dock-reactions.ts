/** The seam through which hosts tell the Docks' module what became of Docks. */
import type { UsageSample } from '@dock/host-protocol'

/** A runtime that is gone, and the host that says so: it is believed of the Docks that it has. */
export type LostRuntime = { hostId: string; dockId: string; generation: number }

/** Processes of a Dock that were ended because it ran out of memory; `process` is null when its sandbox died. */
export type MemoryShortage = { dockId: string; generation: number; process: string | null; count: number }

export type DockReactions = {
  /** Docks of hosts that are offline turn unreachable, unless an operation holds them. */
  hostsSilent(): Promise<void>
  hostBack(dockId: string): Promise<void>
  /** Docks whose host has a later generation than the database, which was restored: their rows catch up. */
  hostAhead(
    hostId: string,
    docks: readonly { dockId: string; generation: number; ip: string | null }[],
  ): Promise<void>
  /** Captures that a host had when the database was backed up, and has no more: their Snapshots have failed. */
  capturesGone(hostId: string, there: readonly string[], before: Date): Promise<void>
  /** Boots it again from its own disk. `died`: unexpectedly, so it counts and alerts. */
  recover(lost: LostRuntime, died: boolean): Promise<void>
  /** The same for those that an operation held when they were lost. */
  recoverHeld(): Promise<void>
  /** These captures are on the host: Snapshots that were lost with it are found again. */
  capturesFound(hostId: string, captures: readonly string[]): Promise<void>
  ranOutOfMemory(hostId: string, shortage: MemoryShortage): Promise<void>
  sampled(hostId: string, samples: readonly UsageSample[]): Promise<void>
}
