/** The machines of fast Runs, as the module of Runs uses them. */

import type { Visitor } from '../../accounts/index.ts'
import type { LostRuntime } from '../../hosts/index.ts'
import type { DockContext } from '../dock-context.ts'
import { type BootParts, bootMachine } from './boot-machine.ts'
import { claimMachine, type WantedMachine } from './claim-machine.ts'
import { endMachine } from './end-machine.ts'
import {
  deleteEndedMachines,
  findMachineOfRun,
  findReportedMachine,
  listMachinesOf,
  type RunMachine,
} from './machine-store.ts'

export type FastMachines = {
  /** Returns the Run's machine, or null. */
  find(organizationId: string, runId: string): Promise<RunMachine | null>
  /** Saves a machine for the Run. Throws what a create of a Dock in the caller's name would. */
  claim(caller: Visitor, wanted: WantedMachine): Promise<void>
  /** Boots a machine that was claimed. Throws the host's error if it does not start. It can be repeated. */
  boot(machine: RunMachine, operationId: string): Promise<void>
  /** Ends the machine: now, by an order for its host, or, if it may be a Dock, by the quarantine. It can be repeated. */
  end(machine: Pick<RunMachine, 'id' | 'hostId' | 'generation'>): Promise<void>
}

export function createFastMachines(context: DockContext, parts: BootParts): FastMachines {
  return {
    find: (organizationId, runId) => findMachineOfRun(context.db, organizationId, runId),
    claim: (caller, wanted) => claimMachine(context, caller, wanted),
    boot: (machine, operationId) => bootMachine(parts, machine, operationId),
    end: (machine) => endMachine(context, machine),
  }
}

const atOnceMax = 20

/** Ends machines of a deleted organization. Returns how many it had: call it again until that is 0. */
export async function removeMachines(context: DockContext, organizationId: string): Promise<number> {
  const { count, machines } = await listMachinesOf(context.db, organizationId, atOnceMax)
  for (const machine of machines) await endMachine(context, machine, { isErased: true })
  if (count === 0) await deleteEndedMachines(context.db, organizationId)
  return count
}

/**
 * Ends a machine whose sandbox is gone. It is never booted again: what ran in it is lost, and so is its Run's turn. Returns
 * false if no machine has this runtime. A machine that is still being booted is left to its boot.
 */
export async function endLostMachine(
  context: DockContext,
  { dockId, hostId, generation }: LostRuntime,
): Promise<boolean> {
  const machine = await findReportedMachine(context.db, dockId)
  if (!machine) return false
  if (machine.hostId === hostId && machine.generation === generation && machine.state === 'running')
    await endMachine(context, machine)
  return true
}
