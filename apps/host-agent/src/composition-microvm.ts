import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from '@dock/foundation'
import type { RuntimeDriver } from '@dock/runtime'
import { awaitAgent, createMicrovmDriver, openMachines, readMicrovmSettings } from '@dock/runtime-microvm'
import type { AgentSettings } from './agent-settings.ts'

/** Creates the driver for microVMs, from what script/bootstrap has installed in the host folder. */
export function createDriver(
  { hostFolder, runFolder, variables }: AgentSettings,
  logger: Logger,
): RuntimeDriver {
  const { allowsEmulation } = readMicrovmSettings(variables)
  const machines = {
    installed: join(hostFolder, 'microvm'),
    agentPath: join(hostFolder, 'bin/guest-agent'),
    folder: join(hostFolder, 'machines'),
    // Sockets lie in it, whose paths are limited.
    stateDir: join(runFolder, 'm'),
    instance: createHash('sha256').update(hostFolder).digest('hex').slice(0, 8),
  }
  return createMicrovmDriver({
    open: () => openMachines({ ...machines, allowsEmulation, awaitAgent, logger }),
    pumpSocket: join(runFolder, 'pump.sock'),
    logger,
  })
}
