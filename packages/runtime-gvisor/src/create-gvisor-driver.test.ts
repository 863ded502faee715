/** Needs root, DOCK_TEST_RUNSC (a runsc) and DOCK_TEST_ROOTFS (a root filesystem, copied before use). */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createLogger, newUuid, runCommand } from '@dock/foundation'
import {
  type ExecRequest,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
  type SandboxSpec,
} from '@dock/runtime'
import { describeDriver } from '@dock/runtime/conformance'
import { placeLauncher } from '@dock/testkit/src/runtime/place-launcher.ts'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { createGvisorDriver } from './create-gvisor-driver.ts'
import { readBootFlags } from './runsc/boot-flags.ts'
import { Sentry } from './sentry/sentry.ts'
import { SentryRefused } from './sentry/sentry-connection.ts'

const runsc = process.env.DOCK_TEST_RUNSC
const rootfs = process.env.DOCK_TEST_ROOTFS

const request = (script: string): ExecRequest => ({
  ...{ argv: ['/bin/bash', '-c', script], env: { SECRET: 'hidden-value' }, cwd: '/', uid: 0, gid: 0 },
  ...{ timeoutMs: 30_000, outputLimitBytes: 1000, input: 'x' },
})

/** Program of a process that starts a command and prints its reference; the test then kills the process. */
const strayCommand = `
const { createGvisorDriver } = await import('${new URL('create-gvisor-driver.ts', import.meta.url)}')
const { createLogger } = await import('@dock/foundation')
const { options, handle, request } = JSON.parse(process.env.STRAY)
const driver = createGvisorDriver({ ...options, logger: createLogger('test') })
await driver.exec(handle, { ...request, onStarted: (reference) => console.log(JSON.stringify(reference)) })
`

const openDescriptors = (): number => readdirSync('/proc/self/fd').length

/** The arguments of every process on this machine. */
const hostArguments = (): string =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    })
    .join('\n')

if (runsc && rootfs) {
  const scratch = mkdtempSync(join(tmpdir(), 'dock-gvisor-'))
  const runscPath = join(scratch, 'runsc')
  placeLauncher(runsc, runscPath)

  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  test('the panic log of sentries is rotated', async () => {
    const folder = mkdtempSync(join(scratch, 'panic-'))
    const rootDir = join(folder, 'root')
    const driver = createGvisorDriver({ runscPath, rootDir, stateDir: folder, logger: createLogger('test') })
    await driver.fingerprint()
    const panicLog = join(folder, 'panic.log')
    const words = Buffer.alloc(9 * 2 ** 20, 'panic ')
    for (let crash = 0; crash < 3; crash++) {
      appendFileSync(panicLog, words)
      await vi.waitFor(() => expect(statSync(panicLog).size).toBe(0), { timeout: 20_000 })
      expect(statSync(`${panicLog}.1`).size).toBe(words.length)
    }
  })

  const describeOn = (controlSocket: boolean, exec: string): void => {
    const folder = join(scratch, exec)
    const netns = `dockt${process.pid}${controlSocket ? 's' : 'c'}`
    const drivers: RuntimeDriver[] = []
    let spec: SandboxSpec
    let generation = 2
    const options = {
      ...{ runscPath, controlSocket },
      ...{ rootDir: join(folder, 'root'), stateDir: join(folder, 'state') },
    }
    const makeDriver = (): RuntimeDriver => {
      const driver = createGvisorDriver({ ...options, logger: createLogger('test') })
      drivers.push(driver)
      return driver
    }

    let sharedSandbox: Promise<{ driver: RuntimeDriver; handle: SandboxHandle }> | undefined
    /** A sandbox that the tests below may use one after the other. */
    const shared = () => {
      sharedSandbox ??= (async () => {
        const driver = makeDriver()
        return { driver, handle: await driver.start({ ...spec, generation: 90 }) }
      })()
      return sharedSandbox
    }

    afterAll(async () => {
      const used = await sharedSandbox?.catch(() => undefined)
      await used?.driver.destroy(used.handle)
      await runCommand('ip', ['netns', 'delete', netns])
    })

    describeDriver(`gvisor by ${exec}`, makeDriver, async () => {
      if (spec) {
        generation += 1
        return { ...spec, generation }
      }
      const rootPath = join(folder, 'rootfs')
      await runCommand('mkdir', ['-p', folder])
      await runCommand('cp', ['-a', rootfs, rootPath])
      await runCommand('ip', ['netns', 'add', netns])
      spec = {
        dockId: newUuid(),
        generation,
        hostname: 'driver-test',
        cpus: 1,
        memoryMiB: 512,
        disk: { mount: rootPath },
        netnsPath: `/run/netns/${netns}`,
        nameserver: '192.0.2.1',
      }
      return spec
    })

    test(`by ${exec}, commands leak no descriptors and do not appear in process arguments on the host`, async () => {
      const { driver, handle } = await shared()
      await driver.exec(handle, request('true'))
      const before = openDescriptors()
      const seen: string[] = []
      for (let run = 0; run < 5; run++) {
        await driver.exec(handle, {
          ...request('echo hidden-word'),
          onOutput: () => seen.push(hostArguments()),
        })
        await driver.exec(handle, { ...request('true'), cwd: '/nowhere' }).catch(() => undefined)
        await driver.exec(handle, { ...request('true'), executable: `/nowhere/${run}` })
      }
      await vi.waitFor(() => expect(openDescriptors()).toBeLessThanOrEqual(before), { timeout: 20_000 })
      expect(seen.join()).toContain(folder)
      expect(seen.join()).not.toContain('hidden-')
    })

    test(`by ${exec}, a command of a killed process is found and ended, and other processes survive`, async () => {
      const { driver, handle } = await shared()
      const script = 'sleep 8881 & setsid sleep 8882 & wait'
      const other = 'setsid sleep 8883 & until pgrep -fx "sleep 8883"; do sleep 0.01; done'
      const killed = spawn(process.execPath, ['--input-type=module', '--eval', strayCommand], {
        env: {
          ...process.env,
          STRAY: JSON.stringify({ options, handle, request: request(script) }),
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const ended = once(killed, 'exit')
      const reference = JSON.parse(String((await once(killed.stdout, 'data'))[0]))
      killed.kill('SIGKILL')
      await ended
      await driver.exec(handle, request(other))
      const found = await driver.abandonedExecs(handle)
      expect(found).toMatchObject([{ mark: reference.mark }])
      for (const each of found) await driver.endExec(handle, each)
      // The killed process was already waiting, and the sentry reports an exit code only once.
      for (const each of found) expect(await driver.waitForExec(handle, each)).toBeUndefined()
      const names = (await driver.exec(handle, request("pgrep -fx 'sleep 888.' -l"))).stdout.toString()
      expect(names).toMatch(/^\d+ sleep\n$/)
    })

    test(`by ${exec}, processes are listed even if the sentry refuses`, async () => {
      const { driver, handle } = await shared()
      vi.spyOn(Sentry.prototype, 'processes').mockRejectedValueOnce(new SentryRefused('no such method'))
      expect(await driver.processes(handle)).toContainEqual(
        expect.objectContaining({ pid: 1, uid: 0, isPlatform: true }),
      )
    })

    test(`by ${exec}, setuid programs run as their owner if the release allows it`, async () => {
      const { driver, handle } = await shared()
      const allows = (await readBootFlags(runsc)).includes('--allow-suid')
      await driver.exec(
        handle,
        request('cp /usr/bin/id /usr/bin/head /opt; chmod 4755 /opt/id; chmod 6755 /opt/head'),
      )
      const script =
        '/opt/id -u; id -u; /opt/head -n 99 /proc/self/status | grep -E "^(Uid|Gid|CapEff|CapBnd)"'
      const { stdout } = await driver.exec(handle, { ...request(script), uid: 1000, gid: 1000 })
      const [asOwner, asUser, uid, gid, effective, bounding] = stdout.toString().split('\n')
      expect([asOwner, asUser]).toEqual([allows ? '0' : '1000', '1000'])
      expect([uid, gid]).toEqual(
        ['Uid', 'Gid'].map((name) => `${name}:\t1000\t${allows ? '0\t0\t0' : '1000\t1000\t1000'}`),
      )
      // The bounding set is that of root in the sandbox, and the mark of the command.
      const none = 'CapEff:\t0000000000000000'
      expect(effective).toBe(allows ? bounding?.replace('CapBnd', 'CapEff') : none)
    })

    test(`by ${exec}, wait resolves when the sandbox dies unexpectedly`, async () => {
      const driver = makeDriver()
      const handle = await driver.start({ ...spec, generation: 91 })
      const dead = driver.wait(handle)
      process.kill(Number(handle.data.pid), 'SIGKILL')
      await dead
      expect(await driver.recover(handle)).toBe('gone')
      await expect(driver.processes(handle)).rejects.toThrow(SandboxGone)
      await driver.destroy(handle)
    })

    // Ends the shared sandbox.
    test(`by ${exec}, an attached process settles when its sandbox dies, and leaves no descriptor`, async () => {
      const { driver, handle } = await shared()
      await driver.exec(handle, request('true'))
      const before = openDescriptors()
      const opened = await Promise.all(
        [undefined, { cols: 80, rows: 24 }].map((pty) =>
          driver.openProcess(handle, { ...request('echo here; sleep 8884'), ...(pty ? { pty } : {}) }),
        ),
      )
      const waiting = await driver.openProcess(handle, {
        ...request('sleep 8885 & echo here'),
        waitsForOutputs: true,
      })
      for (const { stdout } of [...opened, waiting]) await once(stdout!, 'data')
      await waiting.exited
      process.kill(Number(handle.data.pid), 'SIGKILL')
      for (const each of opened) {
        await expect(each.exited).rejects.toThrow(SandboxGone)
        for (const stream of [each.stdout, each.stderr]) stream?.resume()
      }
      expect(await Promise.all([text(waiting.stdout!), text(waiting.stderr!)])).toEqual(['', ''])
      await vi.waitFor(() => expect(openDescriptors()).toBeLessThanOrEqual(before), { timeout: 20_000 })
      await driver.destroy(handle)
    })

    test(`commands went by ${exec}, and nothing is left of the probe`, async () => {
      expect((await drivers[0]?.fingerprint())?.detail.exec).toBe(exec)
      const left = [options.rootDir, options.stateDir].flatMap((each) => readdirSync(each))
      expect(left.filter((name) => name.includes('probe'))).toEqual([])
    })
  }

  describeOn(true, 'control-socket')
  describeOn(false, 'runsc-exec')
} else {
  console.warn('SKIPPED: gVisor driver; set DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS')
  describe('gvisor', () => {
    test.skip('needs DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS', () => undefined)
  })
}
