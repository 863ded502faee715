/** Events that the agent sends to the control plane, apart from inventory and heartbeats. */
import type { Emitter } from '@dock/foundation'
import type { HostEvent } from '@dock/host-protocol'

export type DockEvent = Exclude<HostEvent, { type: 'inventory' | 'heartbeat' }>
export type DockEvents = Emitter<DockEvent>
