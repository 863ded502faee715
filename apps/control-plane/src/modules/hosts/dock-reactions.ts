/** The seam through which hosts tell the Docks' module what became of Docks. */
import type { UsageSample } from '@dock/host-protocol'

export type DockReactions = {
  /** Docks of hosts that are offline turn unreachable, unless an operation holds them. */
  hostsSilent(): Promise<void>
  hostBack(dockId: string): Promise<void>
  /** Boots it again from its own disk. `died`: unexpectedly, so it counts and alerts. */
  recover(dockId: string, generation: number, died: boolean): Promise<void>
  /** The same for those that an operation held when they were lost. */
  recoverHeld(): Promise<void>
  sampled(hostId: string, samples: readonly UsageSample[]): Promise<void>
}
