/**
 * Process 1 of real sandboxes: its services wait after a boot for which somebody waits, and end the wait for `sudo`.
 * Needs root, DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import type { SandboxHandle } from '@dock/runtime'
import { placeLauncher } from '@dock/testkit/src/runtime/place-launcher.ts'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createGvisorDriver, type GvisorDriver } from '../create-gvisor-driver.ts'

const runsc = process.env.DOCK_TEST_RUNSC
const rootfs = process.env.DOCK_TEST_ROOTFS
const asRoot = { uid: 0, gid: 0 }

if (runsc && rootfs) {
  const folder = mkdtempSync(join(tmpdir(), 'dock-first-process-'))
  const netns = `dockp${process.pid}`
  const disk = join(folder, 'rootfs')
  let driver: GvisorDriver
  let handle: SandboxHandle

  beforeAll(async () => {
    await runCommand('cp', ['-a', rootfs, disk])
    await runCommand('ip', ['netns', 'add', netns])
    placeLauncher(runsc, join(folder, 'runsc'))
    driver = createGvisorDriver({
      ...{ runscPath: join(folder, 'runsc'), rootDir: join(folder, 'root'), stateDir: join(folder, 'state') },
      logger: createLogger('test'),
    })
  })
  afterEach(() => driver.destroy(handle))
  afterAll(async () => {
    await runCommand('ip', ['netns', 'delete', netns])
    rmSync(folder, { recursive: true, force: true })
  })

  const start = async ({ inBackground = false, mount = disk } = {}): Promise<void> => {
    handle = await driver.start({
      ...{ dockId: newUuid(), generation: 1, hostname: 'first-process', cpus: 2, memoryMiB: 512 },
      ...{ disk: { mount }, netnsPath: `/run/netns/${netns}`, nameserver: '192.0.2.1', inBackground },
    })
  }
  const run = async (script: string, more: { uid?: number; gid?: number } = {}): Promise<string> => {
    const { stdout, stderr } = await driver.exec(handle, {
      ...{ argv: ['/bin/bash', '-c', script], executable: '/usr/lib/dock/bash' },
      ...{ cwd: '/', env: { PATH: '/usr/local/bin:/usr/bin:/bin', USER: 'user' } },
      ...{ uid: 1000, gid: 1000, timeoutMs: 20_000, outputLimitBytes: 10_000, ...more },
    })
    return stdout.toString() + stderr.toString()
  }
  const nameOfFirst = async (): Promise<string> =>
    (await driver.processes(handle)).find(({ pid }) => pid === 1)?.name ?? ''

  test('the services begin a moment after the boot, without what prepared it', async () => {
    await start()
    expect(await nameOfFirst()).toBe('bash')
    await expect.poll(nameOfFirst).toBe('s6-ipcserverd')
    const variables = await run(`tr '\\0' '\\n' </proc/1/environ | sort`, asRoot)
    expect(variables).toBe(`DOCK_EXEC_ID=
HOME=/root
LOGNAME=root
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
SHELL=/bin/bash
SHLVL=0
TERM=
USER=root
`)
    expect(await run('sudo sh -c "umask; pwd"')).toBe('0022\n/\n')
  })

  test('sudo ends the wait', async () => {
    await start()
    expect(await run('sudo id -u; ls /run/lock; sudo sh -c "echo again; exit 3"; echo $?')).toBe(
      '0\ndock-sudo\nagain\n3\n',
    )
  })

  test('sudo works as the first thing, whenever it comes', async () => {
    for (const afterMs of [0, 20, 100, 200, 300, 330, 350, 370, 400]) {
      await start()
      await delay(afterMs)
      expect([afterMs, await run('sudo id -u')]).toEqual([afterMs, '0\n'])
      await driver.destroy(handle)
    }
  })

  test('no service waits in a sandbox that is booted in the background', async () => {
    await start({ inBackground: true })
    await expect.poll(nameOfFirst).toBe('s6-ipcserverd')
    // Nothing but the wait would have made sudo write this file.
    expect(await run('sudo id -u; ls /run/lock')).toBe('0\n')
  })

  test('orphans that end during the wait are reaped', async () => {
    await start()
    await run('(setsid sleep 0.05 & setsid sleep 0.1 &)')
    await expect.poll(nameOfFirst).toBe('s6-ipcserverd')
    await run('(setsid sleep 0.01 &)')
    await expect.poll(async () => (await driver.processes(handle)).map(({ pid }) => pid)).toEqual([1])
  })

  test('a sandbox that is frozen during the wait goes on with it, and can be ended in it', async () => {
    for (const afterMs of [0, 50, 170, 340]) {
      await start()
      await delay(afterMs)
      await driver.capabilities.freezing.freeze(handle)
      await delay(500)
      await driver.capabilities.freezing.thaw(handle)
      expect(await run('sudo id -u')).toBe('0\n')
      await driver.destroy(handle)
      await start()
      await delay(afterMs)
      await driver.destroy(handle)
    }
  })

  test('a disk without the files of this image boots as an older one', async () => {
    const older = join(folder, 'older')
    await runCommand('cp', ['-a', rootfs, older])
    await runCommand('rm', [join(older, 'usr/lib/dock/services'), join(older, 'usr/lib/dock/bash')])
    await start({ mount: older })
    expect(await run('echo "$0 $BASH"; readlink /proc/$$/exe; true', asRoot)).toBe(
      '/bin/bash /bin/bash\n/usr/bin/bash\n',
    )
    await expect.poll(nameOfFirst).toBe('sleep')
    await driver.destroy(handle)
    await runCommand('rm', ['-r', join(older, 'usr/lib/dock')])
    await start({ mount: older })
    expect(await run('echo "$0 $BASH"')).toBe('/bin/bash /bin/bash\n')
    expect(await nameOfFirst()).toBe('sleep')
  })
} else {
  console.warn('SKIPPED: process 1 of sandboxes; set DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS')
  test.skip('needs DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS', () => undefined)
}
