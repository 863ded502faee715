/** Composition root: the only module that chooses the runtime, disk pool and networks of this host. */
import { join } from 'node:path'
import { type Logger, systemClock } from '@dock/foundation'
import type { RuntimeDriver } from '@dock/runtime'
import { type Agent, createAgent } from './agent.ts'
import type { AgentSettings } from './agent-settings.ts'
import { createDiskPool } from './disks/disk-pool.ts'
import { forbidRcuExpedited, withRcuExpeditedIn } from './disks/rcu-expedited.ts'
import { withFaultPoints } from './fault-points.ts'
import { readBootId } from './host-facts.ts'
import { createNetworks } from './network/create-networks.ts'
import { listKept, requireOwnRuntime } from './require-own-runtime.ts'

/** Loads only the driver that is used. */
const createDriver = async (settings: AgentSettings, logger: Logger): Promise<RuntimeDriver> => {
  const driver =
    settings.runtime === 'microvm'
      ? await import('./composition-microvm.ts')
      : await import('./composition-gvisor.ts')
  return driver.createDriver(settings, logger)
}

const machineParts = async (settings: AgentSettings, logger: Logger) => {
  const { hostFolder } = settings
  if (!settings.tuneKernel) forbidRcuExpedited()
  const driver = await createDriver(settings, logger)
  const disks = createDiskPool({
    poolDir: join(hostFolder, 'pool'),
    mountsDir: join(hostFolder, 'mounts'),
    limitsDirtyMemory: settings.tuneKernel,
    logger,
  })
  const networks = createNetworks({
    instance: hostFolder,
    subnetFile: join(hostFolder, 'subnet'),
    limits: settings.networkLimits,
    logger,
  })
  return {
    driver: withRcuExpeditedIn(driver, ['start', 'destroy']),
    disks: withRcuExpeditedIn(disks, ['attach', 'detach', 'remove']),
    networks: withRcuExpeditedIn(networks, ['create', 'destroy']),
  }
}

/** Builds the agent. Throws an error that says what to do if the runtime does not work on this machine. */
export async function composeAgent(settings: AgentSettings, logger: Logger): Promise<Agent> {
  const { hostFolder, runtime } = settings
  // Before the driver exists: it starts sandboxes to test the machine.
  await requireOwnRuntime({ hostFolder, runtime, listKept: () => listKept(hostFolder) })
  const parts = await machineParts(settings, logger)
  const fingerprint = await parts.driver.fingerprint()
  logger.info(fingerprint, 'runtime')
  const handlesFolder = join(hostFolder, 'handles')
  return createAgent({
    ...withFaultPoints(parts),
    isEmulated: fingerprint.isEmulated === true,
    bootId: await readBootId(),
    clock: systemClock,
    logger,
    handlesFolder,
    runFolder: settings.runFolder,
    copyPace: settings.copyPace,
    warmPoolSize: settings.warmPoolSize,
  })
}
