/** The suite that every runtime driver must pass, run by a vitest file of each. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type ExecReference,
  ExecRefused,
  type ExecRequest,
  type RuntimeDriver,
  SandboxGone,
  type SandboxHandle,
  type SandboxSpec,
} from './driver.ts'

/** What a driver can only do with a real machine below it; `shell` false leaves out what needs a real shell. */
export type ConformanceOptions = { shell: boolean }

const request = (script: string, more: Partial<ExecRequest> = {}): ExecRequest => ({
  argv: ['/bin/bash', '-c', script],
  env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  cwd: '/',
  uid: 0,
  gid: 0,
  timeoutMs: 10_000,
  outputLimitBytes: 1_048_576,
  ...more,
})

/** Registers the suite. `makeDriver` makes one more instance on the same state each time it is called. */
export const describeDriver = (
  name: string,
  makeDriver: () => RuntimeDriver,
  makeSpec: () => Promise<SandboxSpec>,
  options: ConformanceOptions = { shell: true },
): void => {
  describe(`runtime driver ${name}`, () => {
    let driver: RuntimeDriver
    let spec: SandboxSpec
    let handle: SandboxHandle
    const text = async (script: string, more?: Partial<ExecRequest>) =>
      (await driver.exec(handle, request(script, more))).stdout.toString()

    beforeAll(async () => {
      driver = makeDriver()
      spec = await makeSpec()
      handle = await driver.start(spec)
    })
    afterAll(async () => {
      if (handle) await driver.destroy(handle)
    })

    test.runIf(options.shell)(
      'a running sandbox takes another host name, which no process inside may give it',
      async () => {
        const { hostname } = spec
        await driver.rename?.(handle, 'another-name')
        expect(await text('hostname')).toBe('another-name\n')
        expect((await driver.exec(handle, request(`hostname ${hostname}`))).exitCode).not.toBe(0)
        await driver.rename?.(handle, hostname)
        expect(await text('hostname')).toBe(`${hostname}\n`)
      },
    )

    test('fingerprint names the driver', async () => {
      expect((await driver.fingerprint()).driver).not.toBe('')
    })

    test('the handle carries Dock and generation and survives JSON', async () => {
      expect(handle).toMatchObject({ dockId: spec.dockId, generation: spec.generation })
      expect(await makeDriver().recover(JSON.parse(JSON.stringify(handle)))).toBe('running')
    })

    test.runIf(options.shell)('prepare has run inside, as root, before any command', async () => {
      const prepare = { script: 'echo "$WANTED $EUID" >/run/prepared; return 0', env: { WANTED: 'this' } }
      const prepared = await driver.start({ ...spec, generation: spec.generation + 1, prepare })
      const { stdout } = await driver.exec(
        prepared,
        request('cat /run/prepared; printenv WANTED || echo gone'),
      )
      await driver.destroy(prepared)
      expect(stdout.toString()).toBe('this 0\ngone\n')
    })

    test.runIf(options.shell)(
      'prepare reads its input, and makes for a group what lies in memory',
      async () => {
        const inMemory = { path: '/run/memory', gid: 1000 }
        const script = 'umask 027; /bin/cat >/run/memory/file'
        const input = Buffer.from(`${'é'.repeat(100_000)}\nend`)
        const prepare = { script, env: {}, input }
        const prepared = await driver.start({ ...spec, generation: spec.generation + 3, inMemory, prepare })
        const look =
          'stat -c %a:%u:%g /run/memory/file; df --output=fstype /run/memory | tail -1; cat /run/memory/file'
        const { stdout } = await driver.exec(prepared, request(look))
        const left = await driver.exec(prepared, request('readlink /proc/1/fd/0'))
        await driver.destroy(prepared)
        expect(stdout.toString()).toBe(`640:0:1000\ntmpfs\n${input}`)
        expect(left.stdout.toString()).toBe('/dev/null\n')
      },
    )

    test.runIf(options.shell)(
      'a preparation that fails fails the start, says why and leaves nothing',
      async () => {
        const prepare = { script: 'echo because >&2; return 12', env: {} }
        const generation = spec.generation + 2
        await expect(driver.start({ ...spec, generation, prepare })).rejects.toThrow(/12.*because/)
        expect((await driver.list()).map((each) => each.generation)).not.toContain(generation)
      },
    )

    test('exec answers exit code and output', async () => {
      expect(await driver.exec(handle, request('exit 7'))).toMatchObject({ exitCode: 7, timedOut: false })
      expect(await text('echo hello')).toBe('hello\n')
    })

    test('another instance runs commands in a recovered sandbox and lists it', async () => {
      const other = makeDriver()
      expect((await other.exec(handle, request('echo again'))).stdout.toString()).toBe('again\n')
      expect(await other.list()).toContainEqual(expect.objectContaining({ dockId: spec.dockId }))
    })

    test.runIf(options.shell)('stdout and stderr are kept apart, also when opened by name', async () => {
      const result = await driver.exec(handle, request('echo out >/dev/stdout; echo err >/dev/stderr'))
      expect([result.stdout.toString(), result.stderr.toString()]).toEqual(['out\n', 'err\n'])
    })

    test.runIf(options.shell)('environment, folder, user and input reach the command', async () => {
      const answer = await text('echo "$WORD $PWD $(id -u):$(id -g)"; cat', {
        env: { PATH: '/usr/bin:/bin', WORD: 'a b' },
        cwd: '/tmp',
        uid: 1000,
        gid: 1000,
        input: 'line\n',
      })
      expect(answer).toBe('a b /tmp 1000:1000\nline\n')
    })

    test.runIf(options.shell)('a command waits for input that is promised', async () => {
      const { promise: input, resolve: give } = Promise.withResolvers<Buffer>()
      const { promise: waiting, resolve: isWaiting } = Promise.withResolvers<void>()
      const answer = text('echo waiting; cat', { input, onOutput: () => isWaiting() })
      await waiting
      give(Buffer.from('late\n'))
      expect(await answer).toBe('waiting\nlate\n')
    })

    test.runIf(options.shell)(
      'output is clipped at the limit while the command runs to its end',
      async () => {
        const result = await driver.exec(
          handle,
          request('head -c 300000 /dev/zero; exit 3', { outputLimitBytes: 1000 }),
        )
        expect(result).toMatchObject({ exitCode: 3, truncated: true })
        expect(result.stdout.equals(Buffer.alloc(1000))).toBe(true)
      },
    )

    test.runIf(options.shell)('output is bytes', async () => {
      const result = await driver.exec(handle, request("printf '\\xff\\x00\\xfe'"))
      expect(result.stdout.equals(Buffer.from([0xff, 0, 0xfe]))).toBe(true)
      expect(result.truncated).toBe(false)
    })

    test.runIf(options.shell)('a background process does not hold the answer', async () => {
      const result = await driver.exec(handle, request('sleep 20 & echo done'))
      expect(result.stdout.toString()).toBe('done\n')
      expect(result.durationMs).toBeLessThan(5000)
    })

    const left = async (): Promise<string[]> => {
      const list = 'for f in /proc/[0-9]*/cmdline; do tr "\\0" " " <$f 2>/dev/null; echo; done'
      const lines = (await text(list)).split('\n').map((line) => line.trim())
      return lines.filter((line) => line.startsWith('sleep 777')).sort()
    }

    test.runIf(options.shell)(
      'the timeout ends the whole tree, whatever its processes did to leave it',
      async () => {
        const script = `
        setsid sleep 7771 & nohup sleep 7772 >/dev/null & (sleep 7773 &)
        env -i setsid bash -c 'env -i sleep 7774 & sleep 7775 &'
        (env -i setsid unshare --user sleep 7776 &)
        exec sleep 7777`
        for (let round = 0; round < 3; round++) {
          const result = await driver.exec(handle, request(script, { timeoutMs: 700, uid: 1000, gid: 1000 }))
          expect(result.timedOut).toBe(true)
          expect(await left()).toEqual([])
        }
      },
    )

    test.runIf(options.shell)(
      'what an earlier command left in the background outlives the timeout of a later one',
      async () => {
        await driver.exec(handle, request('setsid sleep 7778 & env -i setsid sleep 7779 &'))
        const later = await driver.exec(handle, request('setsid sleep 7771 & sleep 7772', { timeoutMs: 500 }))
        expect(later.timedOut).toBe(true)
        expect(await left()).toEqual(['sleep 7778', 'sleep 7779'])
      },
    )

    test.runIf(options.shell)('an aborted command ends with its tree', async () => {
      const abort = new AbortController()
      const result = await driver.exec(
        handle,
        request('setsid sleep 7771 & echo here; sleep 7772', {
          signal: abort.signal,
          onOutput: () => abort.abort(),
        }),
      )
      expect(result).toMatchObject({ timedOut: false, exitCode: 137 })
      expect(await left()).toEqual(['sleep 7778', 'sleep 7779'])
    })

    test.runIf(options.shell)('output is told as it comes, no more than is kept', async () => {
      const told: string[] = []
      const script = 'mkfifo /run/gate; echo one; read -r _ </run/gate; echo two >&2; head -c 100 /dev/zero'
      const result = await driver.exec(
        handle,
        request(script, {
          outputLimitBytes: 50,
          onOutput: (stream, chunk) => {
            told.push(`${stream} ${chunk.length}`)
            if (told.length === 1) void text('echo >/run/gate')
          },
        }),
      )
      expect(told[0]).toBe('stdout 4')
      expect([...told].sort()).toEqual(['stderr 4', 'stdout 4', 'stdout 46'])
      expect(result.stdout.length).toBe(50)
    })

    test.runIf(options.shell)('a command is found again by another instance', async ({ skip }) => {
      if (!driver.waitForExec || !driver.endExec) return skip()
      const { promise: started, resolve } = Promise.withResolvers<ExecReference>()
      const running = driver.exec(handle, request('sleep 7773', { onStarted: resolve }))
      const reference = JSON.parse(JSON.stringify(await started)) as ExecReference
      const other = makeDriver()
      const code = other.waitForExec?.(handle, reference)
      await other.endExec?.(handle, reference)
      expect((await running).exitCode).toBe(137)
      expect([137, undefined]).toContain(await code)
      expect(await other.waitForExec?.(handle, reference)).toBeUndefined()
    })

    test.runIf(options.shell)('a missing folder or program is refused', async () => {
      await expect(driver.exec(handle, request('true', { cwd: '/nowhere' }))).rejects.toThrow(ExecRefused)
      await expect(driver.exec(handle, request('', { argv: ['/nowhere'] }))).rejects.toThrow(ExecRefused)
      expect((await driver.exec(handle, request('exit 128'))).exitCode).toBe(128)
    })

    test('a frozen sandbox takes commands again once it is thawed; repeating either is harmless', async ({
      skip,
    }) => {
      if (!driver.freeze || !driver.thaw) return skip()
      await driver.freeze(handle)
      await driver.freeze(handle)
      let answered = false
      const waiting = driver.exec(handle, request('echo thawed')).finally(() => (answered = true))
      await driver.usage?.(handle)
      expect(answered).toBe(false)
      await driver.thaw(handle)
      await driver.thaw(handle)
      expect((await waiting).stdout.toString()).toBe('thawed\n')
    })

    test('process 1 is listed as the platform’s own', async ({ skip }) => {
      if (!driver.processes) return skip()
      expect(await driver.processes(handle)).toContainEqual(
        expect.objectContaining({ pid: 1, uid: 0, isPlatform: true }),
      )
    })

    test('a terminal carries bytes both ways and tells its end', async ({ skip }) => {
      if (!driver.openTerminal) return skip()
      const env = { PATH: '/usr/bin:/bin', TERM: 'xterm-256color', HOME: '/tmp' }
      const size = { cols: 80, rows: 24 }
      const terminal = await driver.openTerminal(handle, { env, cwd: '/', uid: 1000, gid: 1000, ...size })
      let seen = ''
      const echoed = new Promise<void>((resolve) => {
        terminal.onData((chunk) => {
          seen += chunk.toString()
          if (seen.includes('mark-1')) resolve()
        })
      })
      terminal.write('echo mark-$((2 - 1)) mark-1\r')
      await echoed
      terminal.write('exit 5\r')
      expect(await terminal.exited).toEqual({ exitCode: 5 })
      terminal.kill()
    })

    test('destroy ends it, wait resolves, and repeating it is harmless', async () => {
      const waiting = driver.wait(handle)
      await driver.destroy(handle)
      await waiting
      await driver.wait(handle)
      await driver.destroy(handle)
      expect(await makeDriver().recover(handle)).toBe('gone')
      expect((await driver.list()).filter((each) => each.dockId === spec.dockId)).toEqual([])
      await expect(driver.exec(handle, request('true'))).rejects.toThrow(SandboxGone)
    })
  })
}
