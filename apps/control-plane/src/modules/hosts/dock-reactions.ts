/** The interface through which the hosts module reports events to the docks module. The docks module implements it. */
import type { UsageSample } from '@dock/host-protocol'

/** A runtime that is gone. A report from `hostId` counts only if the Dock is placed on that host. */
export type LostRuntime = { hostId: string; dockId: string; generation: number }

/** Processes of a Dock were killed because it ran out of memory. `process` is null if the sandbox itself died. */
export type MemoryShortage = { dockId: string; generation: number; process: string | null; count: number }

export type DockReactions = {
  /** Marks the Docks of offline hosts `unreachable`, except those that an operation holds. */
  markUnreachable(): Promise<void>
  /** Marks an `unreachable` Dock ready again. */
  markReachable(dockId: string): Promise<void>
  /** Updates Docks whose host runs a later generation than the database records, as happens after a restore. */
  catchUpGenerations(
    hostId: string,
    docks: readonly { dockId: string; generation: number; ip: string | null }[],
  ): Promise<void>
  /** Handles captures from before `before` that are not among `there`: a Snapshot without other data fails. */
  failMissingCaptures(hostId: string, there: readonly string[], before: Date): Promise<void>
  /** Boots the Dock again from its own disk. `died`: it ended unexpectedly, so it is counted and raises an alert. */
  recover(lost: LostRuntime, died: boolean): Promise<void>
  /** Recovers Docks that an operation held when their runtime was lost. */
  recoverHeld(): Promise<void>
  /** Completes Snapshots again that were lost with the host and whose captures it lists. */
  completeReturnedSnapshots(hostId: string, captures: readonly string[]): Promise<void>
  recordMemoryShortage(hostId: string, shortage: MemoryShortage): Promise<void>
  /** Takes the number of kept processes in one Dock of the host. */
  noteProcesses(hostId: string, report: { dockId: string; running: number }): Promise<void>
  /** Takes the numbers of kept processes in all Docks of the host. */
  noteAllProcesses(hostId: string, reports: readonly { dockId: string; running: number }[]): Promise<void>
  recordUsage(hostId: string, samples: readonly UsageSample[]): Promise<void>
}
