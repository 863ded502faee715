/**
 * Fault points for crash tests: before and after every step that changes the machine or the agent's records, a test can
 * make the process stop or the call fail. Without `DOCK_FAULTS` these functions return their argument unchanged.
 */
import { faultPoint, faultsArmed } from '@dock/foundation'
import type { DiskSystem } from './disks/disk-system.ts'
import type { DockRecords } from './docks/dock-record.ts'
import type { DockParts } from './docks/dock-state.ts'

type Method = (...args: never[]) => Promise<unknown>

/** Wraps `part` so that each of `methods` has a fault point before and after the call. `nameOf` names the point. */
const stepped = <Part extends object>(
  part: Part,
  methods: readonly (keyof Part & string)[],
  nameOf: (method: string, args: readonly unknown[]) => string,
): Part =>
  new Proxy(part, {
    get: (target, property) => {
      const value: unknown = Reflect.get(target, property)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as Method
      if (!methods.includes(property as keyof Part & string)) return call
      return async (...args: never[]) => {
        const name = nameOf(String(property), args)
        faultPoint(`${name}:before`)
        const result = await call(...args)
        faultPoint(`${name}:after`)
        return result
      }
    },
  })

/** Adds fault points to the runtime driver, the disk pool and the networks. */
export function withFaultPoints<Parts extends Pick<DockParts, 'driver' | 'disks' | 'networks'>>(
  parts: Parts,
): Parts {
  return faultsArmed
    ? {
        ...parts,
        driver: stepped(parts.driver, ['start', 'destroy'], (method) => `agent:sandbox-${method}`),
        disks: stepped(
          parts.disks,
          ['create', 'attach', 'detach', 'capture', 'remove', 'removeCapture'],
          (method) => `agent:disk-${method}`,
        ),
        networks: stepped(parts.networks, ['create', 'destroy'], (method) => `agent:network-${method}`),
      }
    : parts
}

/** Adds fault points to record writes, named after the phase that is written. */
export function withRecordSteps(records: DockRecords): DockRecords {
  return faultsArmed
    ? stepped(
        records,
        ['write'],
        (_method, [record]) => `agent:record-${(record as { phase: string }).phase}`,
      )
    : records
}

/** Adds fault points to the system calls on disks. */
export function withDiskSteps(system: DiskSystem): DiskSystem {
  return faultsArmed
    ? stepped(
        system,
        ['snapshot', 'createSubvolume', 'destroySubvolume', 'sync', 'freeze', 'thaw', 'mount', 'unmount'],
        (method) => `disk:${method}`,
      )
    : system
}
