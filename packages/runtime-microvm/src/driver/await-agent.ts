import { GuestLink } from '../link/index.ts'
import type { Machine } from '../machine/machine.ts'

/** Emulated machines that boot at the same time are slow. */
const helloMs = 120_000

/** Resolves when the guest's agent waits for its configuration. Leaves no connection open. */
export async function awaitAgent(machine: Pick<Machine, 'dial'>): Promise<void> {
  const link = await GuestLink.connect(machine.dial(0), { helloMs })
  link.end()
}
