/** An in-memory host for tests. Only the handle files are real, so that a test can start another agent on the host. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newOperationId } from '@dock/foundation'
import { type Agent, createAgent } from '@dock/host-agent/src/agent.ts'
import type { GitDoorOptions } from '@dock/host-agent/src/network/git-door/git-door.ts'
import type { StartDock } from '@dock/host-protocol'
import type { RuntimeDriver } from '@dock/runtime'
import { bareDriver, createFakeDriver, type FakeDriver } from '../runtime/fake-driver.ts'
import { createFakeMachine } from '../runtime/fake-machine.ts'
import { createVirtualClock } from '../virtual-clock.ts'
import { checkTraffic } from './check-traffic.ts'
import { createMemoryDiskPool } from './memory-disk-pool.ts'
import { createMemoryNetworks } from './memory-networks.ts'

/** With `isBare`, the driver lacks every capability. With `takesDevices`, it only takes disks that are not mounted. */
export async function createMemoryHost({ warmPoolSize = 2, isBare = false, takesDevices = false } = {}) {
  const driverOf = (fake: FakeDriver): RuntimeDriver => {
    if (isBare) return bareDriver(fake)
    return takesDevices ? { ...fake, takesDisk: 'device' } : fake
  }
  const folder = await mkdtemp(join(tmpdir(), 'dock-agent-'))
  const logger = createLogger('test')
  logger.level = 'silent'
  const doors = new Map<string, GitDoorOptions>()
  const machine = createFakeMachine()
  const driver = createFakeDriver(machine)
  const disks = createMemoryDiskPool(['debian-13'], driver.isAlive)
  const parts = {
    ...{ driver, disks, networks: createMemoryNetworks() },
    ...{
      bootId: 'boot-1',
      clock: createVirtualClock(),
      warmPoolSize,
      logger,
      handlesFolder: join(folder, 'handles'),
      openDoor: async (door: GitDoorOptions) => {
        doors.set(door.address, door)
        return { close: () => void doors.delete(door.address) }
      },
    },
  }
  let running = 0
  const startAgent = async (bootId = parts.bootId): Promise<Agent> => {
    running += 1
    const mine = running
    const isAlive = () => running === mine
    const fake: FakeDriver = mine === 1 ? driver : createFakeDriver(machine)
    const agent = createAgent({
      ...parts,
      driver: mortal(driverOf(fake), isAlive),
      disks: mortal(parts.disks, isAlive),
      networks: mortal(parts.networks, isAlive),
      bootId,
    })
    agent.app.fetch = checkTraffic(agent.app.fetch)
    await agent.recover()
    return agent
  }
  return {
    ...parts,
    /** The open git doors, by address. */
    doors,
    agent: await startAgent(),
    /** Starts another agent on the same host, like after a crash of the previous one. */
    startAgent,
    /** Lists everything that exists on the host: sandboxes, networks, disks, attached disks. */
    residue: async () => ({
      sandboxes: (await parts.driver.list()).map((handle) => `${handle.dockId}/${handle.generation}`),
      networks: await parts.networks.list(),
      disks: (await parts.disks.list()).disks,
      attached: [...parts.disks.attached],
    }),
    /** Retries, because the agent may still be writing the record of a sandbox's end. */
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 }),
  }
}

/** Wraps a part for one agent. Once `isAlive` returns false, calls have no effect and never resolve. */
const mortal = <Part extends object>(part: Part, isAlive: () => boolean): Part =>
  new Proxy(part, {
    get: (target, name, receiver) => {
      const value: unknown = Reflect.get(target, name, receiver)
      if (
        typeof value === 'object' &&
        value !== null &&
        (name === 'capabilities' || name === 'freezing' || name === 'blanks')
      )
        return mortal(value, isAlive)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const result: unknown = isAlive() ? value.apply(target, args) : new Promise(() => {})
        if (!(result instanceof Promise)) return result
        return new Promise((resolve, reject) => {
          const ifAlive = (settle: (outcome: unknown) => void) => (outcome: unknown) => {
            if (isAlive()) settle(outcome)
          }
          result.then(ifAlive(resolve), ifAlive(reject))
        })
      }
    },
  })

/** Returns a command that starts a new Dock from the image, with these changes. */
export function startCommand(change: Partial<StartDock> = {}): StartDock {
  return {
    operationId: newOperationId(),
    generation: 1,
    ...{ hostname: 'dock-one', cpus: 1, memoryMiB: 512, diskGiB: 2 },
    source: { kind: 'image', image: 'debian-13' },
    newIdentity: true,
    ...change,
  }
}
