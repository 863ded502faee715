/** Needs root, DOCK_TEST_RUNSC (a runsc) and DOCK_TEST_ROOTFS (a root filesystem, copied before use). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import type { RuntimeDriver, SandboxHandle, SandboxSpec } from '@dock/runtime'
import { describeDriver } from '@dock/runtime/conformance'
import { placeLauncher } from '@dock/testkit/src/runtime/place-launcher.ts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { namesOfGroups, readCgroupMounts, SandboxCgroup } from '../cgroup/sandbox-cgroup.ts'
import { createGvisorDriver, type GvisorDriver } from '../create-gvisor-driver.ts'
import { newBlankName, replacedGofer, runscNameOf } from '../runsc/blank-record.ts'
import { readSandboxState } from '../runsc/sandbox-state.ts'
import { processesWithArgument } from '../system/host-process.ts'
import { isolationOf } from './isolation.ts'

/**
 * Program of a process that creates a blank, starts a sandbox from it and prints the handle. The test kills it at some
 * moment.
 */
const strayStart = `
const { createGvisorDriver } = await import('${new URL('../create-gvisor-driver.ts', import.meta.url)}')
const { createLogger } = await import('@dock/foundation')
const { options, spec } = JSON.parse(process.env.STRAY)
const driver = createGvisorDriver({ ...options, logger: createLogger('test') })
await driver.capabilities.blanks.create(spec)
console.log('created')
if (spec.dockId) console.log(JSON.stringify(await driver.start(spec)))
setInterval(() => undefined, 1000)
`

const runsc = process.env.DOCK_TEST_RUNSC
const rootfs = process.env.DOCK_TEST_ROOTFS

if (runsc && rootfs) {
  const scratch = mkdtempSync(join(tmpdir(), 'dock-blank-'))
  const [rootDir, stateDir, rootPath] = ['root', 'state', 'rootfs'].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ]
  const runscPath = join(scratch, 'runsc')
  const netns = `dockb${process.pid}`
  placeLauncher(runsc, runscPath)
  const options = { runscPath, rootDir, stateDir }
  const silent = createLogger('test')
  silent.level = 'silent'
  const makeDriver = (): GvisorDriver => createGvisorDriver({ ...options, logger: createLogger('test') })
  const spec: SandboxSpec = {
    ...{ dockId: newUuid(), generation: 2, hostname: 'driver-test', cpus: 1, memoryMiB: 512 },
    ...{ disk: { mount: rootPath }, netnsPath: `/run/netns/${netns}`, nameserver: '192.0.2.1' },
  }
  const blanks = (): string[] => readdirSync(stateDir).filter((name) => name.startsWith('blank-'))

  beforeAll(async () => {
    await runCommand('cp', ['-a', rootfs, rootPath])
    await runCommand('ip', ['netns', 'add', netns])
  })
  afterAll(async () => {
    await runCommand('ip', ['netns', 'delete', netns])
    rmSync(scratch, { recursive: true, force: true })
  })

  /** A driver whose every start uses a blank, or fails. */
  const withBlanks = (): RuntimeDriver => {
    const driver = makeDriver()
    return {
      ...driver,
      start: async (wanted) => {
        const { cpus, memoryMiB, netnsPath, inMemory } = wanted
        const blank = { cpus, memoryMiB, netnsPath, ...(inMemory ? { inMemory } : {}) }
        expect(await driver.capabilities.blanks.create(blank)).toBe(true)
        const before = blanks().length
        const handle = await driver.start(wanted)
        expect(blanks()).toHaveLength(before)
        return handle
      },
    }
  }
  describeDriver('gvisor from a blank', withBlanks, async () => {
    spec.generation += 1
    return { ...spec }
  })

  const prefix = newBlankName(stateDir).slice(0, -24)
  /** What is left of blanks of this test: folders, files of runsc, control groups and processes. */
  const residue = (): string[] => [
    ...[...readdirSync(stateDir), ...readdirSync(rootDir), ...namesOfGroups(readCgroupMounts())].filter(
      (each) => each.startsWith(prefix),
    ),
    ...processesWithArgument(prefix).map(({ pid }) => `process ${pid}`),
  ]
  const stray = (wanted: object) =>
    spawn(process.execPath, ['--input-type=module', '--eval', strayStart], {
      env: { ...process.env, STRAY: JSON.stringify({ options, spec: wanted }) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  const kill = async (child: ReturnType<typeof stray>): Promise<void> => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  /** Which files a process has open, without numbers: those of sockets and pipes differ between any two sandboxes. */
  const descriptorsOf = (pid: number, name: string): string[] => {
    const found = readdirSync(`/proc/${pid}/fd`).map((each) =>
      readlinkSync(`/proc/${pid}/fd/${each}`)
        .replaceAll(name, 'NAME')
        .replace(/(?<=^(?:socket|pipe):)\[\d+\]$/, '')
        // The folder /dev of runsc's launcher is not that of this process.
        .replace(/^\/dev\/null$/, '/null')
        .replace(/late-config\.json$/, 'config.json'),
    )
    // The gofer of a blank was run by a descriptor, and has a copy. Which files of its disk are open is a matter of time.
    const program = readlinkSync(`/proc/${pid}/exe`)
    // Releases since 2026 give their gofer a ring that only makes the end of a sandbox faster.
    const isOther = (each: string) => each === program || each === 'anon_inode:[io_uring]'
    return [...new Set(found)].filter((each) => !isOther(each) && !each.startsWith('/root/')).sort()
  }
  const folderOf = (generation: number): string =>
    readdirSync(stateDir).find((name) => name.endsWith(`g000000${generation.toString(16)}`))!
  const shell = (script: string) => ({
    ...{ argv: ['/bin/bash', '-c', script], env: { PATH: '/usr/bin:/bin' }, cwd: '/', uid: 0, gid: 0 },
    ...{ timeoutMs: 30_000, outputLimitBytes: 10_000 },
  })

  test('a sandbox from a blank is isolated and limited as any other, and looks the same from inside', async () => {
    const [driver, ahead] = [makeDriver(), withBlanks()]
    const prepare = {
      script: 'ls /proc/$$/fd >/run/descriptors; set -o >/run/options',
      env: { HOME: '/root', PREPARATION_ONLY: 'word' },
    }
    const usual = await driver.start({ ...spec, generation: 50, prepare })
    const inside = `cat /run/descriptors /run/options /proc/1/status /proc/1/cgroup /proc/mounts /proc/meminfo |
      grep -v '^\\(VmRSS\\|VmSize\\|MemFree\\|MemAvail\\|Active\\|Inactive\\|Cached\\|Mapped\\|AnonPages\\)'
      nproc; hostname; ulimit -a; cat /proc/1/limits; cat /proc/1/environ /proc/1/cmdline | tr '\\0' ' '; env -u DOCK_EXEC_ID; stat -c '%n %a %u %g' /* /dev/* /run/*`
    const describeSandbox = async (handle: SandboxHandle) => {
      const folder = join(stateDir, folderOf(handle.generation))
      const name = runscNameOf(folder, folder.slice(stateDir.length + 1))
      const { pid, goferPid } = await readSandboxState(rootDir, name)
      const gofer = replacedGofer(join(stateDir, name))?.pid ?? goferPid
      const read = (each: number, file: string): string => {
        const text = readFileSync(`/proc/${each}/${file}`, 'utf8').replaceAll(name, 'NAME')
        // The numbers of mounts and of filesystems in memory differ.
        return file === 'mountinfo' ? text.replaceAll(/^\d+ \d+ (?:0:\d+ )?/gm, '') : text
      }
      const host = await Promise.all(
        [pid, gofer].map(async (each) => ({
          isolation: await isolationOf(each),
          files: ['mountinfo', 'cgroup', 'limits', 'oom_score_adj', 'uid_map', 'gid_map'].map((file) =>
            read(each, file),
          ),
          descriptors: descriptorsOf(each, name),
          session: /^NSsid:.*\t(\d+)$/m.exec(read(each, 'status'))?.[1] === String(each),
        })),
      )
      const scores = readdirSync('/proc').flatMap((each) => {
        try {
          return /^\d+$/.test(each) && read(Number(each), 'cgroup').includes('NAME')
            ? [read(Number(each), 'oom_score_adj')]
            : []
        } catch {
          return []
        }
      })
      // The services begin a moment after the boot.
      const nameOfFirst = async () => (await driver.processes(handle)).find((each) => each.pid === 1)?.name
      await expect.poll(nameOfFirst).toBe('s6-ipcserverd')
      const { stdout } = await driver.exec(handle, shell(inside))
      return { host, scores: [...new Set(scores)].sort(), inside: stdout.toString() }
    }
    const wanted = await describeSandbox(usual)
    await driver.destroy(usual)
    const handle = await ahead.start({ ...spec, generation: 51, prepare })
    const found = await describeSandbox(handle)
    await driver.destroy(handle)
    expect(wanted.host[1]?.files[0]).toMatch(/^[^\n]*\n$/)
    expect(found).toEqual(wanted)
  })

  test('a sandbox from a blank keeps no disk of another one mounted', async () => {
    const [disk, place] = [join(scratch, 'other.disk'), join(scratch, 'other')]
    await runCommand('truncate', ['--size=8M', disk])
    await runCommand('mkfs.ext4', ['-q', disk])
    await runCommand('mkdir', [place])
    const device = (await runCommand('losetup', ['--find', '--show', disk])).trim()
    await runCommand('mount', [device, place])
    const driver = makeDriver()
    await driver.capabilities.blanks.create(spec)
    const handle = await driver.start({ ...spec, generation: 55 })
    onTestFinished(() => driver.destroy(handle))
    expect(replacedGofer(join(stateDir, runscNameOf(join(stateDir, folderOf(55)), '')))).not.toBeNull()
    await runCommand('umount', [place])
    // A device that a filesystem uses is detached once that ends.
    await runCommand('losetup', ['--detach', device])
    // Programs of other tests that begin in a mount namespace of their own hold the disk for a moment.
    await expect.poll(() => runCommand('losetup', ['--associated', disk])).toBe('')
  })

  test('a blank of another size is removed, and so is a dead one; the sandbox starts without it', async () => {
    const driver = makeDriver()
    expect(await driver.capabilities.blanks.create({ ...spec, memoryMiB: 256 })).toBe(true)
    const one = await driver.start({ ...spec, generation: 60 })
    expect(residue()).toEqual([])
    await driver.destroy(one)
    await driver.capabilities.blanks.create(spec)
    const { pid } = await readSandboxState(rootDir, blanks()[0]!)
    process.kill(pid, 'SIGKILL')
    // A frozen process dies when it is thawed.
    SandboxCgroup.named(readCgroupMounts(), blanks()[0]!).thaw()
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow(), { timeout: 20_000 })
    const other = await driver.start({ ...spec, generation: 61 })
    expect(residue()).toEqual([])
    expect((await driver.exec(other, shell('echo here'))).stdout.toString()).toBe('here\n')
    await driver.destroy(other)
  })

  test('a removed blank leaves nothing, and its network can be used', async () => {
    const driver = makeDriver()
    await driver.capabilities.blanks.create(spec)
    expect(residue().length).toBeGreaterThan(3)
    await driver.capabilities.blanks.remove(spec.netnsPath)
    expect(residue()).toEqual([])
    const handle = await driver.start({ ...spec, generation: 62 })
    await driver.destroy(handle)
  })

  test('a start that fails from a blank leaves nothing, and the next one of the Dock works', async () => {
    const [driver, ahead] = [makeDriver(), withBlanks()]
    const wanted = { ...spec, generation: 66 }
    await expect(ahead.start({ ...wanted, prepare: { script: 'return 9', env: {} } })).rejects.toThrow(
      'code 9',
    )
    expect(residue()).toEqual([])
    expect(await ahead.list()).toEqual([])
    const handle = await driver.start(wanted)
    expect((await driver.exec(handle, shell('echo here'))).stdout.toString()).toBe('here\n')
    await driver.destroy(handle)
  })

  test('a Dock whose disk takes no blank does not end those of others; two such Docks do', async () => {
    const driver = createGvisorDriver({ ...options, logger: silent })
    const bash = join(rootPath, 'usr/bin/bash-static')
    renameSync(bash, `${bash}.away`)
    const refusal = 'case "$2" in *"eval "*) exit 5 ;; esac'
    writeFileSync(bash, `#!/usr/bin/bash-static.away\n${refusal}\nexec /usr/bin/bash-static.away "$@"\n`)
    chmodSync(bash, 0o755)
    const { blanks: ahead } = driver.capabilities
    const failOnce = async (dockId: string): Promise<void> => {
      const wanted = { ...spec, dockId, generation: 67 }
      await expect(driver.start(wanted)).rejects.toThrow()
      await driver.destroy(await driver.start(wanted))
    }
    const [one, other] = [newUuid(), newUuid()]
    try {
      for (let times = 1; times <= 3; times++) {
        expect(await ahead.create(spec)).toBe(true)
        await failOnce(one)
      }
      expect(await ahead.create(spec)).toBe(true)
      await failOnce(other)
      expect(await ahead.create(spec)).toBe(false)
    } finally {
      renameSync(`${bash}.away`, bash)
    }
  })

  test('the host name of a sandbox does not depend on programs of its disk', async () => {
    const [driver, program] = [withBlanks(), join(rootPath, 'usr/bin/hostname')]
    renameSync(program, `${program}.away`)
    const handle = await driver
      .start({ ...spec, generation: 63 })
      .finally(() => renameSync(`${program}.away`, program))
    const { stdout } = await driver.exec(handle, shell('cat /proc/sys/kernel/hostname'))
    expect(stdout.toString()).toBe('driver-test\n')
    await driver.destroy(handle)
  })

  test('variables and input of the preparation are in no file and no argument on the host', async () => {
    const driver = withBlanks()
    const [variable, input] = [newUuid(), newUuid()]
    const script = '[ "$(</dev/stdin)" = "$WANTED" ] && echo "$SECRET" >/run/secret'
    const handle = await driver.start({
      ...spec,
      generation: 64,
      prepare: { script, env: { SECRET: variable, WANTED: input }, input: Buffer.from(input) },
    })
    expect((await driver.exec(handle, shell('cat /run/secret'))).stdout.toString()).toBe(`${variable}\n`)
    const files = readdirSync(scratch, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile() && !each.parentPath.startsWith(rootPath))
      .map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'))
    const ofProcesses = processesWithArgument('').flatMap(({ pid }) => {
      try {
        return ['cmdline', 'environ'].map((file) => readFileSync(`/proc/${pid}/${file}`, 'latin1'))
      } catch {
        return []
      }
    })
    expect(files.length).toBeGreaterThan(4)
    for (const text of [...files, ...ofProcesses])
      for (const secret of [variable, input]) expect(text.includes(secret)).toBe(false)
    await driver.destroy(handle)
  })

  test.each(['create', 'start', 'exec'])(
    'a runsc whose %s has changed creates no blanks, and sandboxes start',
    async (command) => {
      const path = join(scratch, `without-${command}`)
      const refusal = `for each in "$@"; do [ "$each" != ${command} ] || { echo 'it has changed' >&2; exit 1; }; done`
      writeFileSync(path, `#!/bin/sh\n${refusal}\nexec ${runscPath} "$@"\n`)
      chmodSync(path, 0o700)
      const driver = createGvisorDriver({ ...options, runscPath: path, logger: silent })
      expect(await driver.capabilities.blanks.create(spec)).toBe(false)
      expect(residue()).toEqual([])
      const handle = await driver.start({ ...spec, generation: 65 })
      await driver.destroy(handle)
      expect(await driver.capabilities.blanks.create(spec)).toBe(false)
      // It is not tried again and again.
      const begin = performance.now()
      expect(await driver.capabilities.blanks.create(spec)).toBe(false)
      expect(performance.now() - begin).toBeLessThan(20)
    },
  )

  test('frozen processes and a control group that no folder and no state names are removed', async () => {
    const child = stray({ ...spec, dockId: undefined })
    await once(child.stdout, 'data')
    await kill(child)
    for (const name of blanks()) rmSync(join(stateDir, name), { recursive: true })
    for (const name of readdirSync(rootDir).filter((each) => each.startsWith(prefix)))
      rmSync(join(rootDir, name))
    expect(residue().length).toBeGreaterThan(2)
    await makeDriver().fingerprint()
    expect(residue()).toEqual([])
  })

  test('blanks of a killed driver are removed by the next one, and those of a living one stay', async () => {
    const child = stray({ ...spec, dockId: undefined })
    await once(child.stdout, 'data')
    await makeDriver().fingerprint()
    expect(blanks()).toHaveLength(1)
    await kill(child)
    await makeDriver().fingerprint()
    expect(residue()).toEqual([])
  })

  test('the next driver adopts a sandbox from a blank, and removes all of it', async () => {
    const child = stray({ ...spec, generation: 70 })
    await once(child.stdout, 'data')
    const handle: SandboxHandle = JSON.parse(String((await once(child.stdout, 'data'))[0]))
    await kill(child)
    const driver = makeDriver()
    await driver.fingerprint()
    expect(await driver.recover(handle)).toBe('running')
    expect(await driver.list()).toMatchObject([
      { dockId: spec.dockId, generation: 70, data: { pid: handle.data.pid } },
    ])
    expect((await driver.exec(handle, shell('hostname'))).stdout.toString()).toBe('driver-test\n')
    await driver.capabilities.freezing.freeze(handle)
    await driver.capabilities.freezing.thaw(handle)
    expect((await driver.capabilities.readUsage(handle)).memoryBytes).toBeGreaterThan(0)
    const [found] = await driver.list()
    await driver.destroy(found!)
    expect(await driver.recover(handle)).toBe('gone')
    expect(residue()).toEqual([])
    expect(await driver.list()).toEqual([])
  })

  test('a driver that is killed at any moment leaves nothing that the next one does not find', async () => {
    for (const [index, delayMs] of [0, 30, 60, 100, 150, 220, 300].entries()) {
      const child = stray({ ...spec, generation: 80 + index })
      // The first moments of a process are the same; the probe takes a while too.
      const begun = vi.waitFor(() => expect(blanks().length).toBeGreaterThan(0), {
        timeout: 60_000,
        interval: 5,
      })
      await begun
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      await kill(child)
      const driver = makeDriver()
      // A call of runsc that the killed process had begun goes on for a moment.
      await vi.waitFor(
        async () => {
          await driver.fingerprint()
          for (const each of await driver.list()) await driver.destroy(each)
          expect(residue()).toEqual([])
          expect(await driver.list()).toEqual([])
        },
        { timeout: 60_000, interval: 50 },
      )
    }
  })
} else {
  console.warn('SKIPPED: blank sandboxes; set DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS')
  describe('blank sandboxes', () => {
    test.skip('needs DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS', () => undefined)
  })
}
