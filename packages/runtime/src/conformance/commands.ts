/** The input of a command and its result. */
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ExecRefused } from '../driver.ts'
import { request, type Subject } from './subject.ts'

export function describeCommands(subject: Subject): void {
  test('exec returns exit code and output', async () => {
    expect(await subject.driver.exec(subject.handle, request('exit 7'))).toMatchObject({
      exitCode: 7,
      timedOut: false,
    })
    expect(await subject.text('echo hello')).toBe('hello\n')
  })

  test('another instance runs commands in a recovered sandbox and lists it', async () => {
    const other = subject.makeDriver()
    expect((await other.exec(subject.handle, request('echo again'))).stdout.toString()).toBe('again\n')
    expect(await other.list()).toContainEqual(expect.objectContaining({ dockId: subject.spec.dockId }))
  })

  test.runIf(subject.hasShell)('stdout and stderr are separate, even when opened by path', async () => {
    const result = await subject.driver.exec(
      subject.handle,
      request('echo out >/dev/stdout; echo err >/dev/stderr'),
    )
    expect([result.stdout.toString(), result.stderr.toString()]).toEqual(['out\n', 'err\n'])
  })

  test.runIf(subject.hasShell)('environment, folder, user and input reach the command', async () => {
    const answer = await subject.text('echo "$WORD $PWD $(id -u):$(id -g)"; cat', {
      env: { PATH: '/usr/bin:/bin', WORD: 'a b' },
      cwd: '/tmp',
      uid: 1000,
      gid: 1000,
      input: 'line\n',
    })
    expect(answer).toBe('a b /tmp 1000:1000\nline\n')
  })

  test.runIf(subject.hasShell)('a command waits for input given as a promise', async () => {
    const { promise: input, resolve: give } = Promise.withResolvers<Buffer>()
    const { promise: waiting, resolve: isWaiting } = Promise.withResolvers<void>()
    const answer = subject.text('echo waiting; cat', { input, onOutput: () => isWaiting() })
    await waiting
    give(Buffer.from('late\n'))
    expect(await answer).toBe('waiting\nlate\n')
  })

  test.runIf(subject.hasShell)(
    'a command ends without its background processes, which write on while somebody keeps their outputs',
    async ({ skip }) => {
      const { driver, handle } = subject
      const { keepLeftOutputs } = driver.capabilities
      if (!keepLeftOutputs) return skip()
      const left: { descriptors: number; output: Promise<string> }[] = []
      keepLeftOutputs(async ({ descriptors, ...sandbox }) => {
        expect(sandbox).toEqual({ dockId: handle.dockId, generation: handle.generation })
        const streams = descriptors.map((each) => createReadStream(`/proc/self/fd/${each}`))
        left.push({ descriptors: descriptors.length, output: text(streams[0]!) })
        await Promise.all(streams.map((stream) => once(stream, 'open')))
      })
      onTestFinished(() => keepLeftOutputs(async () => undefined))
      const writes = '(sleep 1; echo late; sleep 1; echo later) & echo now'
      expect(await subject.text(writes)).toBe('now\n')
      await subject.text('true')
      await expect.poll(() => left.length, { timeout: 10_000 }).toBe(1)
      expect([left[0]!.descriptors, await left[0]!.output]).toEqual([2, 'late\nlater\n'])
    },
  )

  test.runIf(subject.hasShell)(
    'output is clipped at the limit, and the command still runs to its end',
    async () => {
      const result = await subject.driver.exec(
        subject.handle,
        request('head -c 300000 /dev/zero; exit 3', { outputLimitBytes: 1000 }),
      )
      expect(result).toMatchObject({ exitCode: 3, truncated: true })
      expect(result.stdout.equals(Buffer.alloc(1000))).toBe(true)
    },
  )

  test.runIf(subject.hasShell)('output may be any bytes', async () => {
    const result = await subject.driver.exec(subject.handle, request("printf '\\xff\\x00\\xfe'"))
    expect(result.stdout.equals(Buffer.from([0xff, 0, 0xfe]))).toBe(true)
    expect(result.truncated).toBe(false)
  })

  test.runIf(subject.hasShell)('exec returns although a background process still runs', async () => {
    const result = await subject.driver.exec(subject.handle, request('sleep 20 & echo done'))
    expect(result.stdout.toString()).toBe('done\n')
    expect(result.durationMs).toBeLessThan(5000)
  })

  test.runIf(subject.hasShell)('onOutput gets output as it arrives, up to the limit', async () => {
    const told: string[] = []
    const script = 'mkfifo /run/gate; echo one; read -r _ </run/gate; echo two >&2; head -c 100 /dev/zero'
    const result = await subject.driver.exec(
      subject.handle,
      request(script, {
        outputLimitBytes: 50,
        onOutput: (stream, chunk) => {
          told.push(`${stream} ${chunk.length}`)
          if (told.length === 1) void subject.text('echo >/run/gate')
        },
      }),
    )
    expect(told[0]).toBe('stdout 4')
    expect([...told].sort()).toEqual(['stderr 4', 'stdout 4', 'stdout 46'])
    expect(result.stdout.length).toBe(50)
  })

  test.runIf(subject.hasShell)('a program runs itself if the file in its place is missing', async () => {
    for (let run = 0; run < 2; run++)
      expect(await subject.text('echo $0', { executable: '/nowhere/bash' })).toBe('/bin/bash\n')
    const opened = await subject.driver.openProcess(subject.handle, {
      ...request('echo $0'),
      executable: '/nowhere/bash',
    })
    expect(await text(opened.stdout!)).toBe('/bin/bash\n')
  })

  test.runIf(subject.hasShell)('a missing folder or program is refused', async () => {
    await expect(subject.driver.exec(subject.handle, request('true', { cwd: '/nowhere' }))).rejects.toThrow(
      ExecRefused,
    )
    await expect(subject.driver.exec(subject.handle, request('', { argv: ['/nowhere'] }))).rejects.toThrow(
      ExecRefused,
    )
    expect((await subject.driver.exec(subject.handle, request('exit 128'))).exitCode).toBe(128)
  })
}
