/**
 * The program that `script/prove cgroup-v2` runs inside its machine: a gVisor sandbox on cgroup v2 runs out of memory
 * in several ways. Each result is a line that begins with `ok` or `FAILED`; the last line is `end`.
 * Arguments: runsc, a root filesystem, an empty folder on tmpfs.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createLogger, newUuid, runCommand, tryCommand } from '@dock/foundation'
import type { ExecRequest, ExecResult, OutOfMemory } from '@dock/runtime'
import { createGvisorDriver } from '@dock/runtime-gvisor'
import {
  readCgroupMounts,
  SandboxCgroup,
} from '../../../packages/runtime-gvisor/src/cgroup/sandbox-cgroup.ts'
import { memoryGroup } from '../../../packages/runtime-gvisor/src/memory/memory-group.ts'
import { sandboxId } from '../../../packages/runtime-gvisor/src/runsc/sandbox-id.ts'

const [runscPath = '', rootfs = '', folder = ''] = process.argv.slice(2)
const mebibyte = 2 ** 20
const memoryMiB = 256
const limitBytes = (memoryMiB + 128) * mebibyte
const groups = '/sys/fs/cgroup'
/** Long, because the machine is emulated on busy processors. */
const commandMs = 240_000

const hogs = {
  'a process that grows': `perl -e '$_ .= "x" x (1 << 20) while 1'`,
  'a process that takes 2 GiB in one block': `perl -e '$x = "x" x (2 << 30); print length $x'`,
  'a file in memory': `perl -e '$n = "h"; $f = syscall(319, $n, 0); $p = "x" x (1 << 20);
    open(H, ">&=", $f); syswrite(H, $p) or die $! while 1'`,
}

const print = (line: string): boolean => process.stdout.write(`${line}\n`)
const expect = (holds: boolean, what: string): boolean => print(`${holds ? 'ok    ' : 'FAILED'} ${what}`)
const eventsOf = (group: string): string =>
  readFileSync(join(group, 'memory.events'), 'utf8').trim().replaceAll('\n', ', ')
const countOf = (group: string, event: string): number =>
  Number(new RegExp(`^${event} (\\d+)$`, 'm').exec(readFileSync(join(group, 'memory.events'), 'utf8'))?.[1])

/** Control: without a guard the kernel kills, and the cgroup's reader sees it. */
const withoutGuard = async (): Promise<void> => {
  const group = join(groups, 'unguarded')
  mkdirSync(group)
  const memory = memoryGroup(2, group)
  memory.setLimit(64 * mebibyte)
  let rings = 0
  const end = memory.listen([64 * mebibyte], () => rings++)
  const hog = `echo $$ >${group}/cgroup.procs; perl -e '$_ .= "x" x (1 << 20) while 1'`
  const { code } = await tryCommand('bash', ['-c', hog], { timeoutMs: commandMs })
  for (const deadline = Date.now() + 10_000; rings === 0 && Date.now() < deadline; ) await delay(10)
  end()
  expect(
    code !== 0 && memory.kernelKills() > 0 && memory.read().isStuck && rings > 0,
    `without the guard the kernel kills, and the reader sees it: ${eventsOf(group)}; ${rings} notifications`,
  )
}

const request = (script: string): ExecRequest => ({
  ...{ argv: ['/bin/bash', '-c', script], env: {}, cwd: '/', uid: 0, gid: 0 },
  ...{ timeoutMs: commandMs, outputLimitBytes: 4000 },
})

const withGuard = async (): Promise<void> => {
  const rootPath = join(folder, 'rootfs')
  for (const name of ['rootfs', 'upper', 'work']) mkdirSync(join(folder, name), { recursive: true })
  const layers = `lowerdir=${rootfs},upperdir=${folder}/upper,workdir=${folder}/work`
  await runCommand('mount', ['-t', 'overlay', 'overlay', '-o', layers, rootPath])
  await runCommand('ip', ['netns', 'add', 'proved'])
  const driver = createGvisorDriver({
    ...{ runscPath, rootDir: join(folder, 'root'), stateDir: join(folder, 'state') },
    logger: createLogger('prove'),
  })
  const told: OutOfMemory[] = []
  driver.capabilities.watchMemory((event) => told.push(event))
  const dockId = newUuid()
  const handle = await driver.start({
    ...{ dockId, generation: 1, hostname: 'proved', cpus: 1, memoryMiB },
    ...{ disk: { mount: rootPath }, netnsPath: '/run/netns/proved', nameserver: '192.0.2.1' },
  })
  const run = (script: string): Promise<ExecResult> => driver.exec(handle, request(script))
  const cgroup = SandboxCgroup.named(readCgroupMounts(), sandboxId(dockId, 1))
  const { version, folder: group } = cgroup.memory()
  const limit = (): number => Number(readFileSync(join(group, 'memory.max'), 'utf8'))
  expect(version === 2 && limit() === limitBytes, 'a sandbox has a cgroup of version 2, with headroom')

  await run('setsid sleep 7777 >/dev/null 2>&1 &')
  for (const [name, script] of Object.entries(hogs)) {
    const before = countOf(group, 'high')
    const { exitCode, killedForMemory = [], durationMs, timedOut } = await run(script)
    const ended = told.splice(0).map(({ process }) => process)
    const named = killedForMemory.join(', ') || 'nothing'
    expect(
      exitCode === 137 && !timedOut && ended.includes('perl'),
      `${name}: exit code ${exitCode} after ${durationMs} ms, the guard killed ${ended.join(', ') || 'nothing'}, the result names ${named}`,
    )
    const neighbour = (await run('pgrep -fx "sleep 7777"')).exitCode === 0
    const lives = (await driver.recover(handle)) === 'running' && neighbour
    const over = countOf(group, 'high') - before
    expect(
      lives && over > 0 && countOf(group, 'oom_kill') === 0 && limit() === limitBytes,
      `the Dock and its other process are alive, the kernel killed nothing, the limit is restored: ${eventsOf(group)}`,
    )
  }

  await cgroup.freeze()
  const before = (await cgroup.usage()).cpuUsec
  await delay(2_000)
  const after = (await cgroup.usage()).cpuUsec
  cgroup.thaw()
  expect(
    before > 0 && after - before < 10_000 && (await run('true')).exitCode === 0,
    `uses no CPU while frozen (${after - before} µs in 2 s) and continues after the thaw`,
  )
  await driver.destroy(handle)
}

writeFileSync(join(groups, 'cgroup.subtree_control'), '+memory')
await withoutGuard()
await withGuard()
print('end')
process.exit(0)
