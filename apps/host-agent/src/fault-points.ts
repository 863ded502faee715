/**
 * Fault points for crash tests: before and after every step that changes the machine or the agent's records, a test can
 * make the process stop or the call fail. Without `DOCK_FAULTS` these functions return their argument unchanged.
 */
import { faultsArmed, withFaultSteps } from '@dock/foundation'
import type { DockRecords } from './sandboxes/dock-record.ts'
import type { DockParts } from './sandboxes/dock-state.ts'

/** Adds fault points to the runtime driver, the disk pool and the networks. */
export function withFaultPoints<Parts extends Pick<DockParts, 'driver' | 'disks' | 'networks'>>(
  parts: Parts,
): Parts {
  if (!faultsArmed) return parts
  return {
    ...parts,
    driver: withFaultSteps(parts.driver, ['start', 'destroy'], (method) => `agent:sandbox-${method}`),
    disks: withFaultSteps(
      parts.disks,
      ['create', 'attach', 'detach', 'capture', 'remove', 'removeCapture'],
      (method) => `agent:disk-${method}`,
    ),
    networks: withFaultSteps(parts.networks, ['create', 'destroy'], (method) => `agent:network-${method}`),
  }
}

/** Adds fault points to record writes, named after the phase that is written. */
export function withRecordSteps(records: DockRecords): DockRecords {
  return withFaultSteps(
    records,
    ['write'],
    (_method, [record]) => `agent:record-${(record as { phase: string }).phase}`,
  )
}
