/** A whole host in memory, for tests; only the handle files are real, so that an agent can be followed by another. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newOperationId } from '@dock/foundation'
import type { StartDock } from '@dock/host-protocol'
import { type Agent, createAgent } from '../agent.ts'
import { createManualClock } from './manual-clock.ts'
import { createMemoryDiskPool } from './memory-disk-pool.ts'
import { createMemoryDriver } from './memory-driver.ts'
import { createMemoryNetworks } from './memory-networks.ts'

export const createMemoryHost = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'dock-agent-'))
  const logger = createLogger('test')
  logger.level = 'silent'
  const parts = {
    ...{ driver: createMemoryDriver(), disks: createMemoryDiskPool(), networks: createMemoryNetworks() },
    ...{
      bootId: 'boot-1',
      clock: createManualClock(),
      warmPoolSize: 2,
      logger,
      handlesFolder: join(folder, 'handles'),
    },
  }
  const startAgent = async (bootId = parts.bootId): Promise<Agent> => {
    const agent = createAgent({ ...parts, bootId })
    await agent.recover()
    return agent
  }
  return {
    ...parts,
    agent: await startAgent(),
    /** Another agent on the same host, as after a crash of the first. */
    startAgent,
    /** Everything that exists on the host: sandboxes, networks, disks, attached disks. */
    residue: async () => ({
      sandboxes: (await parts.driver.list()).map((handle) => `${handle.dockId}/${handle.generation}`),
      networks: await parts.networks.list(),
      disks: (await parts.disks.list()).disks,
      attached: [...parts.disks.attached],
    }),
    /** Patient: the record of a death may still be being written. */
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }),
  }
}

/** A start of a new Dock from the image, with what is said changed. */
export const startCommand = (change: Partial<StartDock> = {}): StartDock => ({
  operationId: newOperationId(),
  generation: 1,
  ...{ hostname: 'dock-one', cpus: 1, memoryMiB: 512, diskGiB: 2 },
  source: { kind: 'image', image: 'debian-13' },
  newIdentity: true,
  ...change,
})
