import { GuestLink } from '../link/index.ts'
import type { Machine } from '../machine/machine.ts'

/** Resolves when the guest's agent waits for its configuration. Leaves no connection open. */
export async function awaitAgent(machine: Pick<Machine, 'dial'>): Promise<void> {
  const link = await GuestLink.connect(machine.dial(0))
  link.end()
}
