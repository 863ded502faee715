/**
 * For crash tests alone: every step by which this agent changes its machine or its records becomes a place where it
 * can be stopped, before and after. Without `DOCK_FAULTS` the parts are what they were.
 */
import { faultPoint, faultsArmed } from '@dock/foundation'
import type { DiskSystem } from './disks/disk-system.ts'
import type { DockRecords } from './docks/dock-record.ts'
import type { DockParts } from './docks/dock-state.ts'

type Method = (...args: never[]) => Promise<unknown>

/** The part with a place before and after each of the methods, under the name that `nameOf` gives the call. */
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

/** The machine's parts, each change of them a place to stop at. */
export function withFaultSteps<Parts extends Pick<DockParts, 'driver' | 'disks' | 'networks'>>(
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

/** The records, each write a place to stop at, named by the phase that is written. */
export function withRecordSteps(records: DockRecords): DockRecords {
  return faultsArmed
    ? stepped(
        records,
        ['write'],
        (_method, [record]) => `agent:record-${(record as { phase: string }).phase}`,
      )
    : records
}

/** The kernel's part in disks, each call a place to stop or to fail at. */
export function withDiskSteps(system: DiskSystem): DiskSystem {
  return faultsArmed
    ? stepped(
        system,
        ['snapshot', 'createSubvolume', 'destroySubvolume', 'sync', 'freeze', 'thaw', 'mount', 'unmount'],
        (method) => `disk:${method}`,
      )
    : system
}
