/** Boots the machine of a fast Run. It can be repeated: the host joins or repeats the same start. */
import type { HostGateway, StartFailures } from '../../hosts/index.ts'
import { HostRefused } from '../../hosts/index.ts'
import { retryWhenHostReconnects } from '../core/retry-when-host-reconnects.ts'
import type { DockContext } from '../dock-context.ts'
import type { DockRepositories } from '../environment/repositories/dock-repositories.ts'
import type { PrepareApply } from '../environment/variables/prepare-apply.ts'
import { markMachineRunning, type RunMachine } from './machine-store.ts'

export type BootParts = Pick<DockContext, 'db' | 'clock'> & {
  gateway: HostGateway
  startFailures: StartFailures
  /** Returns what the Environment passes to the machine. */
  prepareApply: PrepareApply
  repositories: DockRepositories
  ensureImage(image: string, hostId: string): Promise<void>
}

/** Boots the machine and clones what its Environment passes. Throws the host's error if it does not start. */
export async function bootMachine(parts: BootParts, machine: RunMachine, operationId: string): Promise<void> {
  const { db, clock, gateway, startFailures, repositories } = parts
  const { id: dockId, organizationId, hostId, generation, hostname, image } = machine
  const { cpus, memoryMiB, diskGiB } = machine
  const boot = { dockId, hostId, generation }
  const [given, hasRepositories] = await Promise.all([
    parts.prepareApply({ organizationId, dockId }),
    repositories.any(boot),
  ])
  const order = () =>
    gateway.start(
      { hostId, dockId },
      {
        operationId,
        generation,
        organizationId,
        hostname,
        cpus,
        memoryMiB,
        diskGiB,
        source: { kind: 'image', image },
        newIdentity: false,
        ...given,
      },
    )
  try {
    const { ip } = await retryWhenHostReconnects(gateway, hostId, () =>
      order().catch(async (error: unknown) => {
        if (!(error instanceof HostRefused && error.code === 'not_found')) throw error
        await parts.ensureImage(image, hostId)
        return order()
      }),
    )
    // As in a Dock, a repository of the Environment that cannot be cloned does not keep it from starting.
    if (hasRepositories) {
      const { failed, toSetUp } = await repositories.clone(operationId, boot)
      if (!failed) await repositories.setUp(operationId, boot, toSetUp)
    }
    await markMachineRunning(db, dockId, ip, clock.now())
    startFailures.forgetFailure(hostId)
  } catch (error) {
    startFailures.recordFailure(hostId)
    throw error
  }
}
