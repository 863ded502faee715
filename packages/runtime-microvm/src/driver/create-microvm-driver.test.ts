/** The driver on real machines, emulated. Needs root, DOCK_TEST_MICROVM, DOCK_TEST_GUEST_AGENT and DOCK_TEST_ROOTFS. */
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecRequest, OutOfMemory, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { describeDriver } from '@dock/runtime/conformance'
import { expectJailed } from '@dock/testkit/src/runtime/expect-jailed.ts'
import { hasTestMachines } from '@dock/testkit/src/runtime/test-machines.ts'
import {
  openTestMicrovmDriver,
  type TestMicrovmDriver,
} from '@dock/testkit/src/runtime/test-microvm-driver.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MachineGroup } from '../machine/jail/machine-group.ts'
import type { Machine } from '../machine/machine.ts'
import { fileBytesMax } from '../machine/qemu/qemu-machine.ts'
import { machineName } from './machine-name.ts'
import { describeOwnKernel } from './testing/describe-own-kernel.ts'

describe.runIf(hasTestMachines)('on emulated machines', () => {
  let opened: TestMicrovmDriver
  beforeAll(async () => {
    opened = await openTestMicrovmDriver()
  }, 300_000)
  afterAll(() => opened?.close())

  const makeDriver = () => opened.makeDriver()
  const makeSpec = () => opened.makeSpec()

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
      machine = opened.sessions.get(machineName(handle.dockId, handle.generation))!.machine
    })
    afterAll(() => driver?.destroy(handle))

    test('of a Dock is jailed', () => {
      const disk = spec.disk.device
      expectJailed(machine.pid()!, {
        tree: opened.machines.tree.root,
        files: ['/dev/net/tun', '/dev/null', disk, opened.machines.tree.moduleDisk],
        fileBytesMax: fileBytesMax(statSync(disk).size, opened.size.memoryMiB),
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
