/** What the agent's paths are built on. */
import type { Logger } from '@dock/foundation'
import type { HostFacts, Pressure } from '@dock/host-protocol'
import type { CopyPace } from '../copies/copy-capture.ts'
import type { DockEvents } from '../docks/dock-events.ts'
import type { Docks } from '../docks/docks.ts'
import type { DiskPool } from '../docks/seams.ts'

export type HostView = {
  docks: Docks
  disks: DiskPool
  copyPace: CopyPace
  events: DockEvents
  facts(): Promise<HostFacts>
  pressure(): Promise<Pressure>
  logger: Logger
}
