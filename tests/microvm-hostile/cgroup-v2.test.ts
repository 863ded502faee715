/**
 * The jail of microVMs on control groups of version 2, for hosts that have version 1: a QEMU in a microVM, whose kernel has only
 * version 2. The inner machine need not boot, so this takes a minute, although both are emulated.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { runCommand } from '@dock/foundation'
import { GuestLink } from '@dock/runtime-microvm/src/link/index.ts'
import { diskSerials } from '@dock/runtime-microvm/src/machine/qemu/qemu-arguments.ts'
import {
  hasTestMachines,
  openTestMachines,
  type TestMachines,
} from '@dock/testkit/src/runtime/test-machines.ts'
import { afterAll, beforeAll, expect, test } from 'vitest'

const checkout = join(import.meta.dirname, '../..')
const memoryMiB = 1536
/** What the sources inside import, with all that these need. */
const modules = [
  ...['@dock/foundation', '@dock/runtime-microvm', '@koromix/koffi-linux-x64', 'koffi', 'zod', 'ipaddr.js'],
  ...['pino', '@pinojs/redact', 'atomic-sleep', 'on-exit-leak-free', 'pino-abstract-transport'],
  ...[
    'pino-std-serializers',
    'process-warning',
    'quick-format-unescaped',
    'real-require',
    'safe-stable-stringify',
  ],
  ...['sonic-boom', 'thread-stream', 'split2'],
]
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

let machines: TestMachines
let disk: string

/** Makes a disk with the root filesystem of an image, this process's Node, the sources that are needed, and a tree of machines. */
beforeAll(async () => {
  if (!hasTestMachines) return
  machines = await openTestMachines()
  const content = join(machines.folder, 'outer')
  const copy = (from: string, to: string) =>
    runCommand('cp', ['-a', '--reflink=auto', '--', from, join(content, to)], { timeoutMs: 300_000 })
  await runCommand('cp', ['-a', '--reflink=auto', '--', process.env.DOCK_TEST_ROOTFS!, content], {
    timeoutMs: 300_000,
  })
  await copy(process.execPath, 'usr/local/bin/node')
  for (const folder of [
    'packages',
    'node_modules/@dock',
    'node_modules/@koromix',
    'node_modules/@pinojs',
    'tests',
  ])
    mkdirSync(join(content, 'checkout', folder), { recursive: true })
  for (const path of [
    'package.json',
    'packages/foundation',
    'packages/runtime-microvm',
    'tests/microvm-hostile',
  ])
    await copy(join(checkout, path), `checkout/${path}`)
  for (const name of modules)
    await copy(join(checkout, 'node_modules', name), `checkout/node_modules/${name}`)
  await copy(machines.tree.root, 'tree')
  await copy(machines.tree.moduleDisk, 'modules.ext4')
  disk = join(machines.folder, 'outer.raw')
  await runCommand('mke2fs', ['-q', '-t', 'ext4', '-d', content, disk, '1600m'], { timeoutMs: 300_000 })
})
afterAll(() => machines?.close())

test.runIf(hasTestMachines)('QEMU is jailed on control groups of version 2', async () => {
  const id = `outer-${process.pid}`
  const machine = await machines.vmm.launch({ id, cpus: 1, memoryMiB, disk, netnsPath: null })
  const link = await GuestLink.connect(machine.dial(0))
  await link.go({
    ...{ clock: BigInt(Date.now()) * 1_000_000n, entropy: randomBytes(64), hostname: 'outer' },
    disk: { serial: diskSerials.root },
    modules: { serial: diskSerials.modules, type: 'ext4' },
  })
  const program = await link.open({
    argv: [
      '/usr/local/bin/node',
      'tests/microvm-hostile/jail-in-guest.ts',
      '/tree',
      '/modules.ext4',
      '/root',
    ],
    ...{ env: { PATH: usualPath }, cwd: '/checkout', uid: 0, gid: 0 },
  })
  program.stdin.end()
  const [output, errors] = await Promise.all([text(program.stdout), text(program.stderr)])
  expect(errors).toBe('')
  const found = JSON.parse(output) as Record<string, unknown>
  console.log(`QEMU in a guest takes commands after ${found.startMs} ms`)
  expect(found).toMatchObject({
    ...{ capEff: '0000000000000000', noNewPrivs: '1', seccomp: '2', nsPid: '1' },
    ...{ isInGroup: true, cpu: '100000 100000', pids: '192', memory: String((128 + 320) * 2 ** 20) },
    usage: { cpuUsec: expect.any(Number), memoryBytes: expect.any(Number) },
    ...{ device: expect.stringMatching(/not permitted/i), deviceOutside: 0 },
    ...{ ranOutOfMemory: true, isLeft: false },
  })
  expect(found.hierarchy).not.toContain('- cgroup')
  expect(found.uid).toBeGreaterThanOrEqual(0x7000_0000)
  expect(found.shared).toEqual(expect.not.arrayContaining(['mnt', 'pid', 'ipc', 'uts', 'net', 'cgroup']))
  await machine.kill()
})
