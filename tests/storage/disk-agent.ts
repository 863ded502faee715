/**
 * The host agent without sandboxes: real disks, records, link and copies, but a fake runtime whose sandboxes end with
 * the agent, like on a machine that loses power. A round of a proof then takes milliseconds.
 */
import { join } from 'node:path'
import { createLogger, newUuid, systemClock } from '@dock/foundation'
import { createMemoryNetworks } from '@dock/testkit/src/host-agent/memory-networks.ts'
import { createFakeDriver } from '@dock/testkit/src/runtime/fake-driver.ts'
import { createAgent } from '../../apps/host-agent/src/agent.ts'
import { createDiskPool } from '../../apps/host-agent/src/disks/disk-pool.ts'
import { withFaultPoints } from '../../apps/host-agent/src/fault-points.ts'
import { createCredentialFile } from '../../apps/host-agent/src/server/link/credential-file.ts'
import { keepLinked } from '../../apps/host-agent/src/server/link/keep-linked.ts'

const setting = (name: string): string => {
  const value = process.env[name]
  if (!value) throw new Error(`${name} must be set`)
  return value
}
const hostDir = setting('DOCK_HOST_DIR')
const logger = createLogger('disk-agent')

const fake = createFakeDriver()
const done = {
  ...{ exitCode: 0, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) },
  ...{ durationMs: 1, truncated: false, timedOut: false },
}
/** Every command in a sandbox succeeds at once. */
const driver = { ...fake, exec: async () => done }

const agent = createAgent({
  ...withFaultPoints({
    driver,
    disks: createDiskPool({
      poolDir: join(hostDir, 'pool'),
      mountsDir: join(hostDir, 'mounts'),
      logger,
      reserveBytes: 64 * 2 ** 20,
    }),
    networks: createMemoryNetworks(),
  }),
  bootId: newUuid(),
  clock: systemClock,
  logger,
  handlesFolder: join(hostDir, 'handles'),
  copyPace: { bytesPerSecond: 2 ** 40 },
  warmPoolSize: 0,
})
await agent.recover()
agent.watch()
await keepLinked({
  url: setting('DOCK_CONTROL_URL'),
  joinTokenFile: setting('DOCK_JOIN_TOKEN_FILE'),
  credentials: createCredentialFile(join(hostDir, 'credential.json')),
  facts: agent.facts,
  handler: (request) => agent.app.fetch(request),
  connect: agent.connect,
  signal: new AbortController().signal,
  logger,
})
