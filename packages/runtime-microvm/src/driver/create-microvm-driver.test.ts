/** The driver on real machines, emulated. Needs root, DOCK_TEST_MICROVM, DOCK_TEST_GUEST_AGENT and DOCK_TEST_ROOTFS. */
import { basename, join } from 'node:path'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import { describeDriver } from '@dock/runtime/conformance'
import { type DockNamespace, makeDockNamespace } from '@dock/testkit/src/runtime/dock-namespace.ts'
import {
  hasTestMachines,
  openTestMachines,
  type TestMachines,
} from '@dock/testkit/src/runtime/test-machines.ts'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Machines } from '../machine/open-machines.ts'
import { openTemplates } from '../machine/templates/start-from-template.ts'
import { awaitAgent } from './await-agent.ts'
import { createMicrovmDriver, type Sessions } from './create-microvm-driver.ts'

const size = { cpus: 1, memoryMiB: 512 }
const logger = createLogger('test')
logger.level = 'warn'

describe.runIf(hasTestMachines)('on emulated machines', () => {
  let machines: TestMachines
  let opened: Machines
  let image: string
  const namespaces: DockNamespace[] = []
  const sessions: Sessions = new Map()

  beforeAll(async () => {
    machines = await openTestMachines()
    image = join(machines.folder, 'image')
    await machines.makeImageDisk(image, 1024)
    const instance = basename(machines.folder)
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]/g, '-')
    const templates = await openTemplates({
      ...{ folder: join(machines.folder, 'templates'), vmm: machines.vmm, tree: machines.tree.name },
      ...{ awaitAgent, instance, logger },
    })
    await templates.make(size)
    const { vmm, tree, release } = machines
    opened = { vmm, tree, release, templates, choice: { accelerator: 'tcg', reason: 'a test' } }
  }, 300_000)
  afterAll(async () => {
    await machines?.close()
    for (const namespace of namespaces) await namespace.remove()
  })

  const makeDriver = () =>
    createMicrovmDriver({
      ...{ open: async () => opened, sessions, logger },
      pumpSocket: join(machines.folder, 'pump.sock'),
    })
  const makeSpec = async () => {
    const namespace = await makeDockNamespace()
    namespaces.push(namespace)
    const device = join(machines.folder, `disk-${namespaces.length}`)
    await runCommand('cp', ['--reflink=auto', '--sparse=always', image, device])
    return {
      ...{ dockId: newUuid(), generation: 2, hostname: 'driver-test', ...size, disk: { device } },
      ...{ netnsPath: namespace.netnsPath, nameserver: '192.0.2.1' },
    }
  }

  describeDriver('microvm', makeDriver, makeSpec, { rootMayRename: true })
})
