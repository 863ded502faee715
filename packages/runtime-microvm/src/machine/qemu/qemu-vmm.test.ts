/** Tests real machines, emulated. Needs root, DOCK_TEST_MICROVM, DOCK_TEST_GUEST_AGENT and DOCK_TEST_ROOTFS. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createLogger, runCommand } from '@dock/foundation'
import { makeDockNamespace } from '@dock/testkit/src/runtime/dock-namespace.ts'
import { expectJailed } from '@dock/testkit/src/runtime/expect-jailed.ts'
import {
  hasTestMachines,
  openTestMachines,
  type TestMachines,
} from '@dock/testkit/src/runtime/test-machines.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { awaitAgent } from '../../driver/await-agent.ts'
import { GuestLink } from '../../link/index.ts'
import { MachineFolder } from '../jail/machine-folder.ts'
import { MachineGroup } from '../jail/machine-group.ts'
import type { DiskStop, Machine, MachineSpec } from '../machine.ts'
import { openMachines } from '../open-machines.ts'
import { openTemplates, type Templates } from '../templates/start-from-template.ts'
import { diskSerials } from './qemu-arguments.ts'
import { fileBytesMax } from './qemu-machine.ts'

const size = { cpus: 1, memoryMiB: 256 }

describe.runIf(hasTestMachines)('machines in QEMU', () => {
  let machines: TestMachines
  let templates: Templates
  let disk: string
  let count = 0

  beforeAll(async () => {
    machines = await openTestMachines()
    disk = join(machines.folder, 'disk')
    await machines.makeDisk(disk, 64)
    templates = await openTemplates({
      ...{ folder: join(machines.folder, 'templates'), vmm: machines.vmm, tree: machines.tree.name },
      ...{
        awaitAgent,
        instance: basename(machines.folder)
          .toLowerCase()
          .replaceAll(/[^a-z0-9-]/g, '-'),
      },
      logger: createLogger('test'),
    })
    await templates.make(size)
  }, 300_000)
  afterEach(async () => {
    for (const id of await machines.vmm.list()) await machines.vmm.remove(id)
  })
  afterAll(() => machines?.close())

  const specOf = (more: Partial<MachineSpec> = {}): MachineSpec => {
    count += 1
    return { id: `test-${process.pid}-${count}`, ...size, disk, netnsPath: null, ...more }
  }
  /** Starts a machine from the template. */
  const start = async (more?: Partial<MachineSpec>): Promise<Machine> => {
    const { machine, isRestored } = await templates.start(specOf(more))
    expect(isRestored).toBe(true)
    return machine
  }
  const linkTo = (machine: Machine) => GuestLink.connect(machine.dial(0))
  const groupOf = ({ id }: Machine) => MachineGroup.ofMachine(id)
  const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
  const config = () => ({
    ...{ clock: BigInt(Date.now()) * 1_000_000n, entropy: randomBytes(64), hostname: 'test-machine' },
    disk: { serial: diskSerials.root },
    modules: { serial: diskSerials.modules, type: 'ext4' },
  })
  /** Processor time of the machine's process, in clock ticks. */
  const cpuTicks = (machine: Machine): number => {
    const stat = readFileSync(`/proc/${machine.pid()}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return Number(fields[11]) + Number(fields[12])
  }

  test('QEMU has no rights, no network, no files but its tree, and only the descriptors that it was given', async () => {
    const machine = await start()
    expectJailed(machine.pid()!, {
      tree: machines.tree.root,
      files: ['/dev/net/tun', '/dev/null', disk, machines.tree.moduleDisk],
      fileBytesMax: fileBytesMax(statSync(disk).size, size.memoryMiB),
      groupFolders: groupOf(machine).folders,
    })
  })

  test('each machine has its own user', async () => {
    const other = join(machines.folder, 'other')
    await machines.makeDisk(other, 64)
    const [one, two] = [await start(), await start({ disk: other })]
    const uids = [one, two].map((each) => statSync(`/proc/${each.pid()}`).uid)
    expect(new Set(uids).size).toBe(2)
  })

  test('a guest from a template runs on another disk, with the modules of its kernel', async () => {
    const other = join(machines.folder, 'larger')
    await machines.makeDisk(other, 96)
    const machine = await start({ disk: other })
    const logged: string[] = []
    const link = await GuestLink.connect(machine.dial(0), { onLog: (line) => logged.push(line) })
    await link.go({ ...config(), disk: { serial: diskSerials.root, bytes: statSync(other).size } })
    expect(logged.filter((line) => line.startsWith('modules'))).toEqual([])
    await link.powerOff(0)
    await machine.ended
    // Only the guest could have made the folder, on which it mounts the modules.
    const listed = await runCommand('debugfs', ['-R', `stat /lib/modules/${machines.tree.kernelName}`, other])
    expect(listed).toContain('Type: directory')
    await runCommand('e2fsck', ['-fn', other])
  })

  test('a guest answers under the address of its namespace, on the interface of the Dock', async () => {
    const { netnsPath, address, host, remove } = await makeDockNamespace()
    try {
      const machine = await start({ netnsPath })
      const link = await linkTo(machine)
      await link.go({ ...config(), network: machine.network! })
      // Nothing listens there: the guest's kernel says so.
      const program = `require('node:net').connect(22, '${address}').on('error', ({ code }) => console.log(code))`
      const answer = await runCommand('ip', ['netns', 'exec', host, process.execPath, '-e', program])
      expect(answer.trim()).toBe('ECONNREFUSED')
      expect(await runCommand('ip', ['-netns', host, 'neighbour'])).toContain(machine.network!.mac)
      await machine.kill()
    } finally {
      await remove()
    }
  })

  test('a paused machine takes no processor time, and goes on', async () => {
    const machine = await start()
    const link = await linkTo(machine)
    await machine.pause()
    const before = cpuTicks(machine)
    const answer = link.ping()
    expect(await Promise.race([answer, delay(500, 'none')])).toBe('none')
    expect(cpuTicks(machine) - before).toBeLessThanOrEqual(1)
    await machine.resume()
    await answer
    link.end()
  })

  test('a machine whose QEMU dies is noticed, and leaves nothing behind once it is removed', async () => {
    const machine = await start()
    const { folders } = groupOf(machine)
    process.kill(machine.pid()!, 'SIGKILL')
    expect(await machine.ended).toMatch(/exit/)
    expect(machine.pid()).toBeNull()
    await machine.kill()
    expect([await machines.vmm.list(), folders.filter(exists)]).toEqual([[], []])
  })

  test('a guest that ignores its power button is killed', async () => {
    const machine = await start()
    const begin = performance.now()
    await machine.kill(300)
    expect(performance.now() - begin).toBeGreaterThanOrEqual(300)
    expect(await machines.vmm.list()).toEqual([])
  })

  test('a guest that powers off ends its machine', async () => {
    const machine = await start()
    const link = await linkTo(machine)
    await link.go(config())
    await link.powerOff(0)
    expect(await machine.ended).toMatch(/exit 0/)
  })

  test('a later agent takes the machine over, and learns of its end', async () => {
    const first = await start()
    first.leave()
    const machine = (await machines.anotherVmm().find(first.id))!
    expect(machine).toMatchObject({ id: first.id, size, network: null })
    await (await linkTo(machine)).ping()
    process.kill(machine.pid()!, 'SIGKILL')
    expect(await machine.ended).toMatch(/monitor/)
    expect(await machines.vmm.find(first.id)).toBeNull()
    expect(await machines.vmm.list()).toEqual([])
  })

  test('a machine that does not answer is kept and reported, and taken over when it answers', async () => {
    const first = await start()
    first.leave()
    process.kill(first.pid()!, 'SIGSTOP')
    await expect(machines.anotherVmm({ answerMs: 300 }).find(first.id)).rejects.toThrow(
      /runs but does not answer/,
    )
    expect([first.pid() !== null, await machines.vmm.list()]).toEqual([true, [first.id]])
    const finding = machines.anotherVmm().find(first.id)
    process.kill(first.pid()!, 'SIGCONT')
    const machine = (await finding)!
    await (await linkTo(machine)).ping()
    await machine.kill()
  })

  test('a start that fails leaves nothing behind, and says why', async () => {
    const empty = join(machines.folder, 'empty')
    writeFileSync(empty, 'no memory')
    await expect(machines.vmm.restore(specOf(), empty)).rejects.toThrow(/did not start|ended|closed/)
    await expect(machines.vmm.launch(specOf({ disk: join(machines.folder, 'none') }))).rejects.toThrow(
      'ENOENT',
    )
    await expect(machines.vmm.launch(specOf({ netnsPath: '/run/netns/none' }))).rejects.toThrow()
    expect(await machines.vmm.list()).toEqual([])
  })

  test('KVM is used only if a guest boots with it; trees of machines that run are kept', async () => {
    const folder = join(machines.folder, 'opened')
    const used = join(folder, 'trees/used')
    const unused = join(folder, 'trees/unused')
    for (const each of [used, unused]) mkdirSync(each, { recursive: true })
    const stateDir = join(folder, 'm')
    const record = new MachineFolder(stateDir, 'other')
    await record.create()
    await record.write({
      version: 1,
      ...{ id: 'other', uid: 1, ...size, disk, netnsPath: null, network: null, tree: 'used' },
    })
    const opened = await openMachines({
      ...{ installed: process.env.DOCK_TEST_MICROVM!, agentPath: process.env.DOCK_TEST_GUEST_AGENT! },
      ...{ folder, stateDir, instance: `test${process.pid}`, allowsEmulation: true, awaitAgent },
      logger: createLogger('test', { write: () => undefined }),
    })
    expect([used, unused, opened.tree.root].map(exists)).toEqual([true, false, true])
    expect(opened.choice.reason === '').toBe(opened.choice.accelerator === 'kvm')
    const { machine } = await opened.templates.start(specOf())
    await awaitAgent(machine)
    await machine.kill()
  })

  test('the id of a machine that runs cannot be taken', async () => {
    const machine = await start()
    await expect(machines.vmm.launch({ ...specOf(), id: machine.id })).rejects.toThrow('EEXIST')
    await (await linkTo(machine)).ping()
  })

  test('a full pool stops the machine, which goes on unharmed when there is room', async () => {
    const pool = join(machines.folder, 'pool')
    mkdirSync(pool)
    await runCommand('mke2fs', ['-q', '-t', 'ext4', '-m', '0', `${pool}.img`, '32m'])
    await runCommand('mount', ['-o', 'loop', `${pool}.img`, pool])
    try {
      const onPool = join(pool, 'disk')
      await machines.makeDisk(onPool, 256)
      const machine = await start({ disk: onPool })
      const stops: DiskStop[] = []
      machine.watchDisk((stop) => stops.push(stop))
      const filler = join(pool, 'filler')
      await runCommand('sh', ['-c', 'head -c 1G /dev/zero >"$0" 2>/dev/null || sync', filler])
      const link = await linkTo(machine)
      await link.go(config())
      const argv = ['/bin/bash', '-c', 'printf %08000000d 0 >/written']
      const program = await link.open({ argv, env: {}, cwd: '/', uid: 0, gid: 0 })
      const done = program.exited.then(() => link.sync())
      await expect.poll(() => stops.length).toBeGreaterThan(0)
      expect(stops[0]).toMatchObject({ reason: 'no-space' })
      expect(await Promise.race([done, delay(300, 'waits')])).toBe('waits')
      rmSync(filler)
      await done
      await link.powerOff(0)
      await machine.kill(30_000)
      await runCommand('e2fsck', ['-fn', onPool])
      expect(await runCommand('debugfs', ['-R', 'stat /written', onPool])).toContain('Size: 8000000')
    } finally {
      for (const id of await machines.vmm.list()) await machines.vmm.remove(id)
      await runCommand('umount', [pool])
    }
  })
})

test.skipIf(hasTestMachines)('needs DOCK_TEST_MICROVM, DOCK_TEST_GUEST_AGENT and DOCK_TEST_ROOTFS', () => {
  console.warn('SKIPPED: machines in QEMU')
})
