/**
 * Measures the drivers of both runtimes side by side, and QEMU without a jail. microVMs are emulated here, as KVM runs no guest on
 * the machines of the project. Needs root and what script/use-test-fixtures installs.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import { createGvisorDriver } from '@dock/runtime-gvisor'
import { cgroupPathOf, readCgroupMounts } from '@dock/runtime-gvisor/src/cgroup/sandbox-cgroup.ts'
import { sandboxId } from '@dock/runtime-gvisor/src/runsc/sandbox-id.ts'
import { awaitAgent, createMicrovmDriver } from '@dock/runtime-microvm'
import { machineName } from '@dock/runtime-microvm/src/driver/machine-name.ts'
import { MachineGroup } from '@dock/runtime-microvm/src/machine/jail/machine-group.ts'
import {
  openTemplates,
  type Templates,
} from '@dock/runtime-microvm/src/machine/templates/start-from-template.ts'
import { type DockNamespace, makeDockNamespace } from '@dock/testkit/src/runtime/dock-namespace.ts'
import { placeLauncher } from '@dock/testkit/src/runtime/place-launcher.ts'
import {
  hasTestMachines,
  openTestMachines,
  type TestMachines,
} from '@dock/testkit/src/runtime/test-machines.ts'
import { newDataDir, removeDataDir } from '../../tests/e2e/support/server.ts'
import { compare, type Figure } from '../figures.ts'
import { print } from './bench-server.ts'
import {
  type DriverSubject,
  measureConcurrentStarts,
  measureRunning,
  measureStarts,
} from './driver-figures.ts'
import { timeRawMachine } from './raw-qemu.ts'
import { untilIdle } from './until-idle.ts'

const size = { cpus: 1, memoryMiB: 512 }
const diskMiB = 1024
const concurrent = 8
const coldCount = 5
const logger = createLogger('bench')
logger.level = 'error'

/** Makes specifications, each with a network of its own, and removes the networks at the end. */
const makeSpecs = () => {
  const namespaces: DockNamespace[] = []
  return {
    next: async (disk: { mount: string } | { device: string }, wanted = size) => {
      const namespace = await makeDockNamespace()
      namespaces.push(namespace)
      return {
        ...{ dockId: newUuid(), generation: 1, hostname: 'bench', ...wanted, disk },
        ...{ netnsPath: namespace.netnsPath, nameserver: '192.0.2.1' },
      }
    },
    close: async () => {
      for (const namespace of namespaces) await namespace.remove()
    },
  }
}

const measureGvisor = async (count: number): Promise<void> => {
  const { DOCK_TEST_RUNSC: runsc, DOCK_TEST_ROOTFS: rootfs } = process.env
  if (!runsc || !rootfs) return void print('gVisor skipped: the test fixtures are missing')
  const folder = await newDataDir()
  const runscPath = join(folder, 'runsc')
  placeLauncher(runsc, runscPath)
  const specs = makeSpecs()
  const driver = createGvisorDriver({
    ...{ runscPath, rootDir: join(folder, 'root'), stateDir: join(folder, 'state'), logger },
  })
  await driver.fingerprint()
  const [mount] = readCgroupMounts().filter(
    ({ version, controllers }) => version === 2 || controllers.includes('memory'),
  )
  let disks = 0
  const subject: DriverSubject = {
    driver,
    makeSpec: async (wanted) => {
      const path = join(folder, `disk-${disks++}`)
      await runCommand('cp', ['-a', '--reflink=auto', rootfs, path])
      return specs.next({ mount: path }, wanted)
    },
    pidsOf: ({ dockId, generation }) => {
      const group = join(mount?.path ?? '', cgroupPathOf(sandboxId(dockId, generation)))
      return readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number)
    },
  }
  try {
    print('gVisor, without its agent')
    await measureStarts(subject, 'start to first exec', count)
    await measureConcurrentStarts(subject, concurrent, coldCount)
    await measureRunning(subject, count)
  } finally {
    await specs.close()
    await removeDataDir(folder)
  }
}

const measureMicrovm = async (count: number): Promise<void> => {
  if (!hasTestMachines) return void print('microVMs skipped: the test fixtures are missing')
  const machines = await openTestMachines()
  const specs = makeSpecs()
  const image = join(machines.folder, 'image')
  await machines.makeImageDisk(image, diskMiB)
  const { folder, vmm, tree, release } = machines
  const templatesFolder = join(folder, 'templates')
  const instance = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')
  const templates = await openTemplates({
    ...{ folder: templatesFolder, vmm, tree: tree.name, awaitAgent, instance, logger },
  })
  /** Boots every machine. */
  const none: Templates = {
    start: async (spec) => ({ machine: await vmm.launch(spec), isRestored: true }),
    make: async () => undefined,
    discard: async () => undefined,
  }
  const choice = { accelerator: 'tcg', reason: 'a benchmark' } as const
  let disks = 0
  const subjectWith = (from: Templates): DriverSubject => ({
    driver: createMicrovmDriver({
      open: async () => ({ vmm, tree, release, templates: from, choice }),
      pumpSocket: join(folder, 'pump.sock'),
      logger,
    }),
    makeSpec: async (wanted = size) => {
      await from.make(wanted)
      const device = join(folder, `disk-${disks++}`)
      await runCommand('cp', ['--reflink=auto', '--sparse=always', image, device])
      return specs.next({ device }, wanted)
    },
    pidsOf: ({ dockId, generation }) => new MachineGroup(`vm-${machineName(dockId, generation)}`).pids(),
  })
  try {
    print(`QEMU ${release.qemuVersion} alone, emulated, until the agent in the guest answers`)
    await templates.make(size)
    const [template] = readdirSync(templatesFolder)
    await measureRaw(machines, image, 'restore', count, join(templatesFolder, template!))
    await measureRaw(machines, image, 'boot', coldCount, null)
    print('microVMs, emulated, without their agent')
    const subject = subjectWith(templates)
    await measureStarts(subject, 'restore to first exec', count)
    await measureStarts(subjectWith(none), 'boot to first exec', coldCount)
    await measureConcurrentStarts(subject, concurrent, coldCount)
    await measureRunning(subject, count)
  } finally {
    await specs.close()
    await machines.close()
  }
}

const measureRaw = async (
  machines: TestMachines,
  disk: string,
  what: string,
  count: number,
  memoryFile: string | null,
): Promise<void> => {
  await untilIdle()
  const figure: Figure = { name: `raw QEMU, ${what}`, samplesMs: [] }
  for (let index = 0; index < count; index += 1)
    figure.samplesMs.push(await timeRawMachine(machines, { ...size, disk, memoryFile }))
  print(compare(figure, undefined))
}

export async function benchRuntimes(count: number): Promise<void> {
  await measureGvisor(count)
  await measureMicrovm(count)
}
