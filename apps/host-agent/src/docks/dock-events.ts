/** What the agent tells the control plane without being asked, beside its regular reports. */
import type { HostEvent } from '@dock/host-protocol'
import type { Emitter } from './emitter.ts'

export type DockEvent = Exclude<HostEvent, { type: 'inventory' | 'heartbeat' }>
export type DockEvents = Emitter<DockEvent>
