/**
 * Sandboxes keep running when runsc is replaced by another release. Needs root, DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS.
 * The other release is the same program with a different version string.
 */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid, runCommand, tryCommand } from '@dock/foundation'
import type { RuntimeDriver, SandboxHandle, SandboxSpec } from '@dock/runtime'
import { placeLauncher } from '@dock/testkit/src/runtime/place-launcher.ts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createGvisorDriver } from './create-gvisor-driver.ts'
import { Sentry } from './sentry/sentry.ts'
import { SentryRefused } from './sentry/sentry-connection.ts'

const runsc = process.env.DOCK_TEST_RUNSC
const rootfs = process.env.DOCK_TEST_ROOTFS

/** Returns the release date, the first eight digits of the version. */
const releaseOf = (program: string): string =>
  /\d{8}/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[0] ?? ''

const otherRelease = '20991231'

if (runsc && rootfs) {
  const scratch = mkdtempSync(join(tmpdir(), 'dock-upgrade-'))
  const netns = `docku${process.pid}`
  const spec: SandboxSpec = {
    dockId: newUuid(),
    generation: 1,
    hostname: 'upgrade-test',
    cpus: 1,
    memoryMiB: 512,
    disk: { mount: join(scratch, 'rootfs') },
    netnsPath: `/run/netns/${netns}`,
    nameserver: '192.0.2.1',
  }
  const transports = [
    { exec: 'control-socket', controlSocket: true },
    { exec: 'runsc-exec', controlSocket: false },
  ]
  const [former, fresh] = [join(scratch, 'former'), join(scratch, 'fresh')]

  beforeAll(async () => {
    await runCommand('cp', ['-a', rootfs, join(scratch, 'rootfs')])
    await runCommand('ip', ['netns', 'add', netns])
    const program = readFileSync(runsc)
    const release = releaseOf(runsc)
    for (let at = program.indexOf(release); at >= 0; at = program.indexOf(release, at + 1))
      program.write(otherRelease, at, 'latin1')
    writeFileSync(fresh, program, { mode: 0o700 })
    expect(releaseOf(fresh)).toBe(otherRelease)
  })
  afterAll(async () => {
    await runCommand('ip', ['netns', 'delete', netns])
    // Releases since 2026 keep an empty network namespace there. The agent's mount namespace ends with it; this one does not.
    for (const { exec } of transports) await tryCommand('umount', [join(scratch, exec, 'root/null-netns')])
    rmSync(scratch, { recursive: true, force: true })
  })

  const programOf = ({ data }: SandboxHandle): string => `/proc/${data.pid}/exe`

  describe.each(transports)('by $exec', ({ exec, controlSocket }) => {
    test('a running sandbox stays on its release until it ends, and new sandboxes use the new release', async () => {
      const folder = join(scratch, exec)
      mkdirSync(folder)
      const runscPath = join(folder, 'runsc')
      writeFileSync(former, readFileSync(runsc), { mode: 0o700 })
      placeLauncher(former, runscPath)
      const options = {
        ...{ runscPath, controlSocket, logger: createLogger('test') },
        ...{ rootDir: join(folder, 'root'), stateDir: join(folder, 'state') },
      }
      const driver = createGvisorDriver(options)
      const say = async (by: RuntimeDriver, handle: SandboxHandle): Promise<string> => {
        const command = { argv: ['/bin/echo', 'here'], env: {}, cwd: '/', uid: 0, gid: 0 }
        const { stdout } = await by.exec(handle, { ...command, timeoutMs: 30_000, outputLimitBytes: 100 })
        return stdout.toString()
      }
      const old = await driver.start({ ...spec, dockId: newUuid() })
      expect(await say(driver, old)).toBe('here\n')
      expect(driver.capabilities.isOutdated(old)).toBe(false)

      placeLauncher(fresh, runscPath)
      rmSync(former)
      const young = await driver.start({ ...spec, dockId: newUuid() })
      expect([old, young].map((each) => driver.capabilities.isOutdated(each))).toEqual([true, false])
      expect([old, young].map((each) => releaseOf(programOf(each)))).toEqual([releaseOf(runsc), otherRelease])
      expect(readlinkSync(programOf(old))).toMatch(/ \(deleted\)$/)

      // Both the driver that started the sandbox and one created after the upgrade can use it.
      const later = createGvisorDriver(options)
      for (const by of [driver, later])
        for (const handle of [old, young]) expect(await say(by, handle)).toBe('here\n')
      const refusing = vi.spyOn(Sentry.prototype, 'processes').mockRejectedValue(new SentryRefused('no'))
      const listed = await later.processes(old).finally(() => refusing.mockRestore())
      expect(listed.map(({ pid }) => pid)).toContain(1)

      for (const handle of [old, young]) {
        await later.destroy(handle)
        expect(existsSync(`/proc/${handle.data.pid}`)).toBe(false)
      }
      expect(await later.list()).toEqual([])
      await driver.destroy(old)
    })
  })
} else {
  console.warn('SKIPPED: upgrades of runsc; set DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS')
  describe('runsc upgrade', () => {
    test.skip('needs DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS', () => undefined)
  })
}
