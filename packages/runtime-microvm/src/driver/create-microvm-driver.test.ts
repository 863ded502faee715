/** The driver on real machines, emulated. Needs root, DOCK_TEST_MICROVM, DOCK_TEST_GUEST_AGENT and DOCK_TEST_ROOTFS. */
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import type { ExecRequest, OutOfMemory, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { describeDriver } from '@dock/runtime/conformance'
import { type DockNamespace, makeDockNamespace } from '@dock/testkit/src/runtime/dock-namespace.ts'
import { expectJailed } from '@dock/testkit/src/runtime/expect-jailed.ts'
import {
  hasTestMachines,
  openTestMachines,
  type TestMachines,
} from '@dock/testkit/src/runtime/test-machines.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MachineGroup } from '../machine/jail/machine-group.ts'
import type { Machine } from '../machine/machine.ts'
import type { Machines } from '../machine/open-machines.ts'
import { fileBytesMax } from '../machine/qemu/qemu-machine.ts'
import { openTemplates } from '../machine/templates/start-from-template.ts'
import { awaitAgent } from './await-agent.ts'
import { createMicrovmDriver, type Sessions } from './create-microvm-driver.ts'
import { machineName } from './machine-name.ts'
import { describeOwnKernel } from './testing/describe-own-kernel.ts'

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

  describeOwnKernel(makeDriver, makeSpec)
  describeDriver('microvm', makeDriver, makeSpec, { rootMayRename: true })

  describe('one machine', () => {
    const bash = (script: string): ExecRequest => ({
      ...{ argv: ['/bin/bash', '-c', script], env: { PATH: '/usr/bin:/bin' }, cwd: '/', uid: 0, gid: 0 },
      ...{ timeoutMs: 120_000, outputLimitBytes: 65_536 },
    })
    let driver: RuntimeDriver
    let spec: Awaited<ReturnType<typeof makeSpec>>
    let handle: SandboxHandle
    let machine: Machine
    const shortages: OutOfMemory[] = []

    beforeAll(async () => {
      driver = makeDriver()
      driver.capabilities.watchMemory!((event) => shortages.push(event))
      spec = await makeSpec()
      handle = await driver.start(spec)
      machine = sessions.get(machineName(handle.dockId, handle.generation))!.machine
    })
    afterAll(() => driver?.destroy(handle))

    test('of a Dock is jailed', () => {
      const disk = spec.disk.device
      expectJailed(machine.pid()!, {
        tree: machines.tree.root,
        files: ['/dev/net/tun', '/dev/null', disk, machines.tree.moduleDisk],
        fileBytesMax: fileBytesMax(statSync(disk).size, size.memoryMiB),
        groupFolders: MachineGroup.ofMachine(machine.id).folders,
      })
    })

    test('that the host kills for memory says so, to the command under way and to the watcher', async () => {
      const died = driver.wait(handle)
      const { memoryBytes } = machine.usage()
      const files = ['memory.max', 'memory.limit_in_bytes'].flatMap((name) =>
        MachineGroup.ofMachine(machine.id).folders.map((folder) => join(folder, name)),
      )
      writeFileSync(files.find((each) => existsSync(each))!, String(memoryBytes + 32 * 2 ** 20))
      // tail keeps all that it reads, because no line ends.
      const running = driver.exec(handle, bash('head -c 200M /dev/zero | tail -n1 | wc -c'))
      await expect(running).rejects.toMatchObject({ name: 'SandboxGone', ranOutOfMemory: true })
      await died
      const { dockId, generation } = handle
      expect(shortages).toEqual([{ dockId, generation, process: null }])
    })
  })
})
