/**
 * Runs inside a microVM, which has control groups of version 2 only: starts a jailed QEMU there and prints what it may do, as one
 * line of JSON. Arguments: the root of the tree of machines, the disk with its modules, an empty folder.
 */
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand, tryCommand } from '@dock/foundation'
import { MachineGroup } from '@dock/runtime-microvm/src/machine/jail/machine-group.ts'
import { createQemuVmm } from '@dock/runtime-microvm/src/machine/qemu/qemu-vmm.ts'

const [root = '', moduleDisk = '', folder = ''] = process.argv.slice(2)
const tree = { name: 'tree', root, moduleDisk, kernelName: '' }
const vmm = createQemuVmm({ tree, stateDir: join(folder, 'm'), accelerator: 'tcg' })
const disk = join(folder, 'disk')
await runCommand('truncate', ['-s', '16M', disk])
const begin = performance.now()
const machine = await vmm.launch({ id: 'nested', cpus: 1, memoryMiB: 128, disk, netnsPath: null })
const startMs = Math.round(performance.now() - begin)

const pid = machine.pid()!
const group = MachineGroup.ofMachine(machine.id)
const [groupFolder = ''] = group.folders
const read = (name: string): string => readFileSync(join(groupFolder, name), 'utf8').trim()
const status = readFileSync(`/proc/${pid}/status`, 'utf8')
const field = (name: string): string =>
  new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1]?.split(/\s+/).at(-1) ?? ''
const openDevice = 'echo $$ >"$0/cgroup.procs" && exec head -c1 /dev/zero'
const found = {
  startMs,
  hierarchy: readFileSync('/proc/self/mountinfo', 'utf8')
    .match(/ - cgroup2? /g)
    ?.map((each) => each.trim()),
  uid: Number(field('Uid')),
  ...{
    capEff: field('CapEff'),
    noNewPrivs: field('NoNewPrivs'),
    seccomp: field('Seccomp'),
    nsPid: field('NSpid'),
  },
  shared: readdirSync('/proc/self/ns').filter(
    (name) => readlinkSync(`/proc/${pid}/ns/${name}`) === readlinkSync(`/proc/self/ns/${name}`),
  ),
  isInGroup: group.pids().includes(pid),
  ...{ memory: read('memory.max'), cpu: read('cpu.max'), pids: read('pids.max') },
  usage: machine.usage(),
  device: (await tryCommand('sh', ['-c', openDevice, groupFolder])).stderr.trim(),
  deviceOutside: (await tryCommand('head', ['-c1', '/dev/zero'])).code,
}
writeFileSync(join(groupFolder, 'memory.max'), String(2 ** 20))
// A started machine does not keep its starter from ending.
const awake = setInterval(() => undefined, 1_000)
await machine.ended
clearInterval(awake)
const { ranOutOfMemory } = machine
await machine.kill()
const isLeft = statSync(groupFolder, { throwIfNoEntry: false }) !== undefined
process.stdout.write(`${JSON.stringify({ ...found, ranOutOfMemory, isLeft })}\n`)
