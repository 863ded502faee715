/** A driver of emulated microVMs for tests, with what it needs below it. Needs what {@link hasTestMachines} says. */
import { basename, join } from 'node:path'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import type { RuntimeDriver, SandboxSpec } from '@dock/runtime'
import { awaitAgent } from '@dock/runtime-microvm/src/driver/await-agent.ts'
import { createMicrovmDriver, type Sessions } from '@dock/runtime-microvm/src/driver/create-microvm-driver.ts'
import { openTemplates } from '@dock/runtime-microvm/src/machine/templates/start-from-template.ts'
import { type DockNamespace, makeDockNamespace } from './dock-namespace.ts'
import { openTestMachines, type TestMachines } from './test-machines.ts'

const diskMiB = 1024
const logger = createLogger('test')
logger.level = 'warn'

export type TestMicrovmDriver = {
  machines: TestMachines
  size: { cpus: number; memoryMiB: number }
  pumpSocket: string
  /** The sessions of all drivers. */
  sessions: Sessions
  /** Makes another driver for the same machines. */
  makeDriver(): RuntimeDriver
  /** Makes the specification of a Dock, with a disk and a network of its own. */
  makeSpec(): Promise<SandboxSpec & { disk: { device: string } }>
  /** Ends all machines and removes everything. */
  close(): Promise<void>
}

/** Makes the template that machines of `size` start from. `agent` is the guests' agent, if it is another one. */
export async function openTestMicrovmDriver(agent?: string): Promise<TestMicrovmDriver> {
  const size = { cpus: 1, memoryMiB: 512 }
  const machines = await openTestMachines(agent)
  const image = join(machines.folder, 'image')
  await machines.makeImageDisk(image, diskMiB)
  const { vmm, tree, release, folder } = machines
  const instance = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
  const templates = await openTemplates({
    ...{ folder: join(folder, 'templates'), vmm, tree: tree.name, awaitAgent, instance, logger },
  })
  await templates.make(size)
  const choice = { accelerator: 'tcg', reason: 'a test' } as const
  const namespaces: DockNamespace[] = []
  const sessions: Sessions = new Map()
  const pumpSocket = join(folder, 'pump.sock')
  return {
    ...{ machines, size, pumpSocket, sessions },
    makeDriver: () =>
      createMicrovmDriver({
        ...{ open: async () => ({ vmm, tree, release, templates, choice }), sessions, logger, pumpSocket },
      }),
    makeSpec: async () => {
      const namespace = await makeDockNamespace()
      namespaces.push(namespace)
      const device = join(folder, `disk-${namespaces.length}`)
      await runCommand('cp', ['--reflink=auto', '--sparse=always', image, device])
      return {
        ...{ dockId: newUuid(), generation: 2, hostname: 'driver-test', ...size, disk: { device } },
        ...{ netnsPath: namespace.netnsPath, nameserver: '192.0.2.1' },
      }
    },
    close: async () => {
      await machines.close()
      for (const namespace of namespaces) await namespace.remove()
    },
  }
}
