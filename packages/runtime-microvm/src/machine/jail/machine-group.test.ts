/** Needs root and control groups. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommand, tryCommand } from '@dock/foundation'
import { afterEach, expect, test } from 'vitest'
import { forbidDevices } from '../system/system-calls.ts'
import { MachineGroup } from './machine-group.ts'

const group = new MachineGroup(`vm-test-${process.pid}`)
afterEach(() => group.end())

const limits = { cpus: 1.5, memoryBytes: 64 * 2 ** 20 }
const isThere = (path: string): boolean => statSync(path, { throwIfNoEntry: false }) !== undefined

/** Runs a program that joins the group first. */
const runInside = (...command: [string, ...string[]]) => {
  const join = 'for folder in $0; do echo $$ >"$folder/cgroup.procs" || exit 9; done; exec "$@"'
  return tryCommand('sh', ['-c', join, group.folders.join(' '), ...command])
}

test('processes inside have no devices, and are limited in memory', async () => {
  group.create(limits)
  expect(await runInside('head', '-c1', '/dev/zero')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/not permitted/i),
  })
  // tail keeps all that it reads, because no line ends.
  const eater = ['-c', 'yes | tr -d "\\n" | head -c 200M | tail -n1 | wc -c']
  const read = ({ stdout }: { stdout: string }) => Number(stdout)
  expect(read(await tryCommand('sh', eater))).toBe(200 * 2 ** 20)
  expect(group.ranOutOfMemory()).toBe(false)
  expect(read(await runInside('sh', ...eater))).toBeLessThan(200 * 2 ** 20)
  expect(group.ranOutOfMemory()).toBe(true)
  const files = ['cpu.max', 'cpu.cfs_quota_us'].flatMap((name) =>
    group.folders.map((each) => join(each, name)),
  )
  expect(readFileSync(files.find(isThere)!, 'utf8')).toMatch(/^150000\b/)
})

test('all of its processes are killed with it, also those that leave their session', async () => {
  group.create(limits)
  const child = spawn('sh', ['-c', 'read go; setsid --fork sleep 1000; exec sleep 1000'], { stdio: 'pipe' })
  for (const folder of group.folders) writeFileSync(join(folder, 'cgroup.procs'), String(child.pid))
  child.stdin.end('go\n')
  await expect.poll(() => group.pids().length).toBe(2)
  const ended = once(child, 'exit')
  await group.kill()
  expect((await ended)[1]).toBe('SIGKILL')
  expect(group.ranOutOfMemory()).toBe(false)
  await group.end()
  expect(group.folders.filter(isThere)).toEqual([])
  await group.end()
})

test('the device filter of version 2 lets no device be opened', async () => {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
  const mount = mounts.find((line) => line.includes(' - cgroup2 '))?.split(' ')[4]
  if (!mount) return console.warn('SKIPPED: no control groups of version 2 are mounted')
  const folder = join(mount, `dock-device-test-${process.pid}`)
  mkdirSync(folder)
  try {
    const read = () =>
      tryCommand('sh', ['-c', 'echo $$ >"$0/cgroup.procs" && exec head -c1 /dev/zero', folder])
    expect((await read()).code).toBe(0)
    forbidDevices(folder)
    expect(await read()).toMatchObject({ code: 1, stderr: expect.stringMatching(/not permitted/i) })
  } finally {
    await expect.poll(() => runCommand('cat', [join(folder, 'cgroup.procs')])).toBe('')
    rmdirSync(folder)
  }
})
