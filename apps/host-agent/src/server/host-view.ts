/** What the handlers of calls use. */
import type { Emitter, Logger, Precedence } from '@dock/foundation'
import type { HostFacts, Pressure } from '@dock/host-protocol'
import type { CopyPace } from '../disks/copies/copy-capture.ts'
import type { DiskPool } from '../disks/pool.ts'
import type { Dock } from '../docks/dock.ts'
import type { Docks } from '../docks/docks.ts'
import type { WarmPool } from '../docks/warm-pool/warm-pool.ts'
import type { WaitingConnections } from '../network/git-door/waiting-connections.ts'
import { AgentRefusal } from '../sandboxes/agent-refusal.ts'
import type { CaptureNotes } from '../sandboxes/capture-notes.ts'
import type { DockEvents } from '../sandboxes/dock-events.ts'
import type { ProcessKeeper } from '../sandboxes/kept-processes/process-keeper.ts'
import type { InstanceMemory } from './instance-memory.ts'

export type HostView = {
  docks: Docks
  disks: DiskPool
  captureNotes: CaptureNotes
  keeper: ProcessKeeper
  instance: InstanceMemory
  copyPace: CopyPace
  warmPool: WarmPool
  events: DockEvents
  /** Emits after this host's images have changed. */
  imageChanges: Emitter<void>
  /** Gives commands priority over large transfers and copies. */
  precedence: Precedence
  facts(): Promise<HostFacts>
  pressure(): Pressure
  gitConnections: WaitingConnections
  logger: Logger
}

/** Returns the Dock. Throws `not_running` if this host does not know it. */
export function knownDock(docks: Docks, dockId: string): Dock {
  const dock = docks.find(dockId)
  if (!dock) throw new AgentRefusal('not_running', 'this host does not know the Dock')
  return dock
}
