/**
 * Compares the image's static bash with its usual one: what scripts print, how they end, and what they see of their shell.
 * Needs root, DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import { ExecRefused, type ExecRequest, type RuntimeDriver, type SandboxHandle } from '@dock/runtime'
import { placeLauncher } from '@dock/testkit/src/runtime/place-launcher.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createGvisorDriver } from '../create-gvisor-driver.ts'
import { Sentry } from '../sentry/sentry.ts'

const runsc = process.env.DOCK_TEST_RUNSC
const rootfs = process.env.DOCK_TEST_ROOTFS
const executable = '/usr/lib/dock/bash'

const home = '/tmp/home'

/** Each script runs in a login bash, in an empty home folder. */
const scripts = readFileSync(join(import.meta.dirname, 'static-bash.scripts'), 'utf8')
  .split('\n---\n')
  .filter((script) => script.trim() !== '')
const variablesOf = (script: string): Record<string, string> =>
  JSON.parse(/^#env (.*)$/m.exec(script)?.[1] ?? '{"LC_CTYPE":"C.UTF-8"}')
/** Drops what differs between any two runs: numbers of processes, and the marks of commands. */
const withoutIds = (text: string): string =>
  text.replaceAll(/\d+ (?=Terminated|Killed|Segmentation)/g, 'PID ').replaceAll(/\b[0-9a-f]{25}\b/g, 'MARK')

if (runsc && rootfs) {
  const folder = mkdtempSync(join(tmpdir(), 'dock-static-bash-'))
  const netns = `dockb${process.pid}`
  let driver: RuntimeDriver
  let handle: SandboxHandle

  beforeAll(async () => {
    await runCommand('cp', ['-a', rootfs, join(folder, 'rootfs')])
    await runCommand('ip', ['netns', 'add', netns])
    placeLauncher(runsc, join(folder, 'runsc'))
    driver = createGvisorDriver({
      ...{ runscPath: join(folder, 'runsc'), rootDir: join(folder, 'root'), stateDir: join(folder, 'state') },
      logger: createLogger('test'),
    })
    handle = await driver.start({
      ...{ dockId: newUuid(), generation: 1, hostname: 'static-bash', cpus: 2, memoryMiB: 512 },
      ...{ disk: { mount: join(folder, 'rootfs') }, netnsPath: `/run/netns/${netns}` },
      nameserver: '192.0.2.1',
    })
  })
  afterAll(async () => {
    if (handle) await driver.destroy(handle)
    await runCommand('ip', ['netns', 'delete', netns])
    rmSync(folder, { recursive: true, force: true })
  })

  const run = async (script: string, more: Partial<ExecRequest>) => {
    const asRoot = { uid: 0, gid: 0, timeoutMs: 20_000, outputLimitBytes: 100_000 }
    const clean = `rm -rf ${home}; mkdir ${home}; chown 1000:1000 ${home}`
    await driver.exec(handle, { ...asRoot, argv: ['/bin/bash', '-c', clean], env: {}, cwd: '/' })
    const { exitCode, stdout, stderr } = await driver.exec(handle, {
      ...asRoot,
      ...{ argv: ['/bin/bash', '-lc', script], cwd: home, uid: 1000, gid: 1000 },
      env: {
        HOME: home,
        USER: 'user',
        SHELL: '/bin/bash',
        PATH: '/usr/local/bin:/usr/bin:/bin',
        ...variablesOf(script),
      },
      ...more,
    })
    return { exitCode, stdout: withoutIds(stdout.toString()), stderr: withoutIds(stderr.toString()) }
  }

  test('the image has a static bash, which runs in place of the usual one', async () => {
    const program = 'readlink /proc/$$/exe; true'
    const asRoot = { uid: 0, gid: 0 }
    expect((await run(program, { ...asRoot, executable })).stdout).toBe('/usr/bin/bash-static\n')
    expect((await run(program, asRoot)).stdout).toBe('/usr/bin/bash\n')
  })

  test('a sandbox that lacks a file is asked for it once', async () => {
    const start = vi.spyOn(Sentry.prototype, 'start')
    for (let command = 0; command < 3; command++)
      expect((await run('echo "$0"', { executable: '/nowhere/bash' })).stdout).toBe('/bin/bash\n')
    const files = start.mock.calls.map(([command]) => command.executable).filter((each) => each !== undefined)
    expect(files).toEqual(['/nowhere/bash'])
  })

  test('a missing folder is refused as such, and does not make the file count as missing', async () => {
    const refused = run('true', { executable, cwd: '/nowhere' })
    await expect(refused).rejects.toThrow(ExecRefused)
    expect(await refused.catch(String)).toBe(await run('true', { cwd: '/nowhere' }).catch(String))
    expect((await run('readlink /proc/$$/exe; true', { uid: 0, gid: 0, executable })).stdout).toContain(
      'static',
    )
  })

  describe('a script in the static bash ends and prints as in the usual one', () => {
    test.each(scripts)('%j', async (given) => {
      expect(await run(given, { executable })).toEqual(await run(given, {}))
    })
  })
} else {
  console.warn('SKIPPED: static bash; set DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS')
  test.skip('needs DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS', () => undefined)
}
