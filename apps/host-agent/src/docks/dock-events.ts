/** Events that the agent sends to the control plane, apart from inventory and heartbeats. */
import type { HostEvent } from '@dock/host-protocol'
import type { Emitter } from './emitter.ts'

export type DockEvent = Exclude<HostEvent, { type: 'inventory' | 'heartbeat' }>
export type DockEvents = Emitter<DockEvent>
