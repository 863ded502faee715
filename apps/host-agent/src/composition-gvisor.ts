import { join } from 'node:path'
import type { Logger } from '@dock/foundation'
import type { RuntimeDriver } from '@dock/runtime'
import { createGvisorDriver, readGvisorSettings } from '@dock/runtime-gvisor'
import type { AgentSettings } from './agent-settings.ts'

/** Creates the driver for gVisor. */
export function createDriver(
  { hostFolder, runFolder, variables, docksMemoryBytes }: AgentSettings,
  logger: Logger,
): RuntimeDriver {
  const { runscPath = join(hostFolder, 'bin/runsc'), controlSocket } = readGvisorSettings(variables)
  return createGvisorDriver({
    runscPath,
    rootDir: join(hostFolder, 'runsc'),
    stateDir: join(runFolder, 'sandboxes'),
    controlSocket,
    memoryBytesMax: Math.floor(docksMemoryBytes),
    logger,
  })
}
