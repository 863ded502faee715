/** Processes with streams. These tests also run on a driver without a shell of its own, if its processes have one. */

import { randomUUID } from 'node:crypto'
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { ExecRefused, type OpenProcess, type ProcessRequest, type SignalTarget } from '../driver.ts'
import type { Subject } from './subject.ts'

const mebibyte = 2 ** 20
const patiently = { timeout: 60_000 }

/** Returns the value once it has not changed for a while. */
const settled = async (value: () => number): Promise<number> => {
  let before = -1
  while (before !== value()) {
    before = value()
    await delay(500)
  }
  return before
}

const firstLine = async (stream: Readable): Promise<string> => {
  let seen = ''
  while (!seen.includes('\n')) {
    const chunk: Buffer | null = stream.read()
    if (chunk) seen += chunk
    else await new Promise((resolve) => stream.once('readable', resolve))
  }
  return seen.trim()
}

const streamsOf = ({ stdin, stdout, stderr }: OpenProcess) => {
  if (!stdin || !stdout || !stderr) throw new Error('a stream is missing')
  return { stdin, stdout, stderr }
}

export function describeProcesses(subject: Subject): void {
  const open = (argv: readonly string[], more: Partial<ProcessRequest> = {}): Promise<OpenProcess> =>
    subject.driver.openProcess(subject.handle, {
      ...{ argv, env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, cwd: '/tmp', uid: 1000, gid: 1000 },
      ...more,
    })
  const bash = (script: string, more?: Partial<ProcessRequest>) => open(['/bin/bash', '-c', script], more)
  /** Runs a script to its end and returns its output. */
  const output = async (script: string): Promise<string> => {
    const opened = await bash(script)
    const { stdout, stderr } = streamsOf(opened)
    stderr.resume()
    return text(stdout)
  }
  const isAlive = async (pid: string): Promise<boolean> =>
    (await output(
      `kill -0 ${pid} 2>/dev/null && ! grep -q '^State:.Z' /proc/${pid}/status && echo alive`,
    )) === 'alive\n'
  /** Waits until a `sleep` has begun. Before, it may still be in the group of its shell and hold its outputs. */
  const sleepHasBegun = (pid: string) =>
    expect.poll(() => output(`cat /proc/${pid}/comm`), patiently).toBe('sleep\n')
  const signal = ({ reference }: OpenProcess, name: 'TERM' | 'HUP' | 'USR1' | 'KILL', target: SignalTarget) =>
    subject.driver.signalProcess(subject.handle, reference, name, target)

  describe('a process', () => {
    test('has separate streams, and the end of its input ends it', async () => {
      const opened = await bash('echo err >&2; cat; exit 7')
      const { stdin, stdout, stderr } = streamsOf(opened)
      expect(await firstLine(stderr)).toBe('err')
      stdin.write('one ')
      stdin.end('two')
      expect(await text(stdout)).toBe('one two')
      expect(await opened.exited).toEqual({ exitCode: 7, signal: null })
      expect(opened.reference.pid).toBeGreaterThan(0)
    })

    test('is searched in PATH, and refused if it or its folder does not exist', async () => {
      const opened = await open(['printf', '%s', "it's"])
      streamsOf(opened).stderr.resume()
      expect(await text(streamsOf(opened).stdout)).toBe("it's")
      await expect(open(['/no/such/program'])).rejects.toThrow(ExecRefused)
      await expect(open(['no-such-program'])).rejects.toThrow(ExecRefused)
      await expect(bash('true', { cwd: '/no/such/folder' })).rejects.toThrow(ExecRefused)
    })

    test('blocks while its output is not read, and no byte is lost', async () => {
      const script =
        'printf -v block %65536s; for ((i = 0; i < 256; i++)); do printf %s "$block"; echo $i >&2; done'
      const opened = await bash(script)
      const { stdout, stderr } = streamsOf(opened)
      let lines = 0
      stderr.on('data', (chunk: Buffer) => {
        lines += String(chunk).split('\n').length - 1
      })
      expect(await settled(() => lines)).toBeLessThan(32)
      let bytes = 0
      stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      expect(await opened.exited).toEqual({ exitCode: 0, signal: null })
      await expect.poll(() => [bytes, lines], patiently).toEqual([16 * mebibyte, 256])
    })

    test('that does not read holds the writer back, and gets every byte later', async () => {
      const opened = await bash('trap "wc -c; exit" USR1; echo ready; while :; do sleep 0.1 </dev/null; done')
      const { stdin, stdout, stderr } = streamsOf(opened)
      stderr.resume()
      expect(await firstLine(stdout)).toBe('ready')
      let taken = 0
      for (let sent = 0; sent < 8; sent += 1)
        stdin.write(Buffer.alloc(mebibyte), () => {
          taken += 1
        })
      stdin.end()
      expect(await settled(() => taken)).toBeLessThan(2)
      await signal(opened, 'USR1', 'process')
      expect(Number(await text(stdout))).toBe(8 * mebibyte)
      await opened.exited
    })

    test('has output of 64 MiB in both directions at once', async () => {
      const opened = await open(['cat'])
      const { stdin, stdout, stderr } = streamsOf(opened)
      stderr.resume()
      let bytes = 0
      stdout.on('data', (chunk: Buffer) => {
        bytes += chunk.length
      })
      const piece = Buffer.alloc(mebibyte)
      for (let sent = 0; sent < 64; sent += 1)
        if (!stdin.write(piece)) await new Promise((resolve) => stdin.once('drain', resolve))
      stdin.end()
      await opened.exited
      await expect.poll(() => bytes, patiently).toBe(64 * mebibyte)
    })

    test('ends its output, even if a process that it left behind keeps the pipe', async () => {
      const opened = await bash('setsid sleep 9911 & echo $!')
      streamsOf(opened).stderr.resume()
      const pid = (await text(streamsOf(opened).stdout)).trim()
      expect(await opened.exited).toEqual({ exitCode: 0, signal: null })
      expect(await isAlive(pid)).toBe(true)
      await output(`kill ${pid}`)
    })

    test('waits for its outputs, if asked: they end when no process holds them', async () => {
      const fifo = `/tmp/go-${randomUUID()}`
      const opened = await bash(
        `mkfifo ${fifo}; (read -r line <${fifo}; seq 200000; echo late >&2) & echo first; exit 7`,
        { waitsForOutputs: true },
      )
      const { stdout, stderr } = streamsOf(opened)
      expect(await firstLine(stdout)).toBe('first')
      expect(await opened.exited).toEqual({ exitCode: 7, signal: null })
      const rest = Promise.all([text(stdout), text(stderr)])
      await output(`echo go >${fifo}; rm ${fifo}`)
      const [numbers, late] = await rest
      expect([numbers.length, numbers.slice(-7), late]).toEqual([1_288_895, '200000\n', 'late\n'])
    })

    test('that has ended is hung up with what holds its outputs in its group', async () => {
      const opened = await bash(
        'sleep 9931 & one=$!; setsid sleep 9932 & two=$!; sleep 9933 >/dev/null 2>&1 & echo $one $two $!',
        { waitsForOutputs: true },
      )
      const { stdout, stderr } = streamsOf(opened)
      stderr.resume()
      const [attached = '', daemon = '', other = ''] = (await firstLine(stdout)).split(' ')
      expect(await opened.exited).toEqual({ exitCode: 0, signal: null })
      expect(await isAlive(attached)).toBe(true)
      await sleepHasBegun(daemon)
      await sleepHasBegun(other)
      await signal(opened, 'HUP', 'attached')
      await expect.poll(() => isAlive(attached), patiently).toBe(false)
      expect([await isAlive(daemon), await isAlive(other)]).toEqual([true, true])
      await output(`kill ${daemon} ${other}`)
      expect(await text(stdout)).toBe('')
    })

    test('gets a signal with what is attached to its streams, and without other programs of its group', async () => {
      const opened = await bash('sleep 9914 & one=$!; sleep 9915 >/dev/null 2>&1 & echo $one $!; wait')
      streamsOf(opened).stderr.resume()
      const [attached = '', other = ''] = (await firstLine(streamsOf(opened).stdout)).split(' ')
      await sleepHasBegun(other)
      await signal(opened, 'HUP', 'attached')
      streamsOf(opened).stdout.resume()
      expect(await opened.exited).toEqual({ exitCode: null, signal: 'HUP' })
      await expect.poll(() => isAlive(attached), patiently).toBe(false)
      expect(await isAlive(other)).toBe(true)
      await output(`kill ${other}`)
    })

    test('gets signals alone, with its group, or with its tree', async () => {
      const script =
        'sleep 9912 & one=$!; setsid sleep 9913 & two=$!; trap "echo heard" USR1; echo $one $two; while :; do wait; done'
      const opened = await bash(script)
      const { stdout, stderr } = streamsOf(opened)
      stderr.resume()
      const [inGroup = '', apart = ''] = (await firstLine(stdout)).split(' ')
      await signal(opened, 'USR1', 'process')
      expect(await firstLine(stdout)).toBe('heard')
      expect(await isAlive(inGroup)).toBe(true)
      await sleepHasBegun(apart)
      await signal(opened, 'HUP', 'group')
      stdout.resume()
      expect(await opened.exited).toEqual({ exitCode: null, signal: 'HUP' })
      await expect.poll(() => isAlive(inGroup), patiently).toBe(false)
      expect(await isAlive(apart)).toBe(true)
      await signal(opened, 'TERM', 'group')
      await output(`kill ${apart}`)
      const other = await bash('setsid --wait sleep 9914 & echo $!; wait; sleep 9915')
      streamsOf(other).stderr.resume()
      const child = await firstLine(streamsOf(other).stdout)
      await signal(other, 'TERM', 'tree')
      streamsOf(other).stdout.resume()
      expect(await other.exited).toEqual({ exitCode: null, signal: 'TERM' })
      await expect.poll(() => isAlive(child), patiently).toBe(false)
    })

    test('on a terminal has its size, is resized, and is interrupted by Ctrl-C', async () => {
      const script = `trap 'stty size; exit 5' WINCH; trap 'echo interrupted' INT
        stty size; echo "$0:$SHELL"; tty >/dev/null && echo ready; while :; do sleep 0.1; done`
      const opened = await open(['/bin/bash', '-c', script, `it's "one"`], {
        env: { PATH: '/usr/bin:/bin', SHELL: '/bin/ba sh' },
        pty: { cols: 91, rows: 17 },
      })
      const { stdin, stdout, stderr } = opened
      expect(stderr).toBeNull()
      let seen = ''
      stdout?.on('data', (chunk: Buffer) => {
        seen += chunk
      })
      await expect.poll(() => seen, patiently).toBe(`17 91\r\nit's "one":/bin/ba sh\r\nready\r\n`)
      stdin?.write('\x03')
      await expect.poll(() => seen, patiently).toContain('interrupted')
      opened.resize(100, 20)
      expect(await opened.exited).toEqual({ exitCode: 5, signal: null })
      expect(seen).toContain('20 100')
    })

    test('on a terminal keeps the size that it got right after its start', async () => {
      const script =
        'for try in {1..100}; do [[ $(stty size) = "20 100" ]] && break; sleep 0.05; done; sleep 0.3; stty size'
      const opened = await open(['/bin/bash', '-c', script], {
        env: { PATH: '/usr/bin:/bin' },
        pty: { cols: 80, rows: 24 },
      })
      opened.resize(100, 20)
      expect(await text(opened.stdout!)).toBe('20 100\r\n')
    })

    test('on a terminal gets a signal in its group, and the end of its input', async () => {
      const pty = { cols: 80, rows: 24 }
      const hung = await bash('sleep 9916 & echo $!; wait', { pty })
      const child = await firstLine(hung.stdout!)
      hung.stdout?.resume()
      await signal(hung, 'HUP', 'group')
      expect(await hung.exited).toEqual({ exitCode: null, signal: 'HUP' })
      await expect.poll(() => isAlive(child), patiently).toBe(false)
      const reader = await bash('cat; exit 6', { pty })
      reader.stdout?.resume()
      reader.stdin?.end('line\n')
      expect(await reader.exited).toEqual({ exitCode: 6, signal: null })
    })

    test.for([
      // This shell tells its jobs that it was hung up, the next one does not.
      { shell: 'bash', apart: 'sleep 9921 & disown\n' },
      { shell: 'dash', apart: '' },
    ])(
      'on a terminal of $shell is hung up with its foreground, but without daemons',
      async ({ shell, apart }) => {
        const sleeps = async (): Promise<string[]> =>
          (await output("pgrep -fa '^sleep 992' | cut -d' ' -f2-")).split('\n').filter(Boolean).sort()
        const hung = await open([`/bin/${shell}`, '-i'], { pty: { cols: 80, rows: 24 } })
        hung.stdout?.resume()
        hung.stdin?.write(`${apart}nohup sleep 9922 >/dev/null 2>&1 &\nsetsid sleep 9923 &\nsleep 9924\n`)
        const spared = [...(apart ? ['sleep 9921'] : []), 'sleep 9922', 'sleep 9923']
        await expect.poll(sleeps, patiently).toEqual([...spared, 'sleep 9924'])
        await signal(hung, 'HUP', 'group')
        await hung.exited
        await expect.poll(sleeps, patiently).toEqual(spared)
        await output("pkill -f '^sleep 992'")
      },
    )

    test('gets descriptors as its streams, also with a terminal', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'dock-descriptors-'))
      for (const pty of [undefined, { cols: 80, rows: 24 }]) {
        const [input, out, err] = [
          openSync('/dev/null', 'r'),
          openSync(join(folder, 'out'), 'w'),
          openSync(join(folder, 'err'), 'w'),
        ]
        const opened = await bash('echo out; echo err >&2', {
          descriptors: [input, out, pty ? out : err],
          ...(pty ? { pty } : {}),
        })
        for (const descriptor of [input, out, err]) closeSync(descriptor)
        expect(opened).toMatchObject({ stdin: null, stdout: null, stderr: null })
        expect(await opened.exited).toEqual({ exitCode: 0, signal: null })
        const written = ['out', 'err'].map((name) => readFileSync(join(folder, name), 'utf8'))
        expect(written).toEqual(pty ? ['out\r\nerr\r\n', ''] : ['out\n', 'err\n'])
      }
      rmSync(folder, { recursive: true })
    })

    test('leaves no descriptor behind, however it ends', async () => {
      const pass = async (kind: number): Promise<void> => {
        const pty = kind === 1 ? { cols: 80, rows: 24 } : undefined
        if (kind === 2) await expect(open(['/no/such/program'])).rejects.toThrow(ExecRefused)
        else {
          const opened = await bash('echo text; read line', pty ? { pty } : {})
          opened.stdout?.resume()
          opened.stderr?.resume()
          // A reader that left early destroys the streams.
          if (kind === 3) for (const stream of [opened.stdin, opened.stdout, opened.stderr]) stream?.destroy()
          else opened.stdin?.end('line\n')
          await opened.exited
        }
      }
      const passAll = async (rounds: number): Promise<void> => {
        for (let round = 0; round < rounds; round += 1) await Promise.all([0, 1, 2, 3].map(pass))
      }
      const openDescriptors = (): number => readdirSync('/proc/self/fd').length
      await passAll(1)
      const before = openDescriptors()
      // One descriptor too many is enough to fail.
      await passAll(6)
      await expect.poll(openDescriptors, patiently).toBeLessThanOrEqual(before)
    })

    test('on a terminal is found by another driver instance, which hangs it up', async () => {
      const { handle } = subject
      const other = subject.makeDriver()
      const script = 'setsid sleep 9919 </dev/null >/dev/null 2>&1 & echo $!; sleep 9920'
      const opened = await bash(script, { pty: { cols: 80, rows: 24 } })
      const daemon = await firstLine(opened.stdout!)
      opened.stdout?.resume()
      const [found, ...more] = await other.abandonedExecs(handle)
      expect([found, more]).toEqual([opened.reference, []])
      await sleepHasBegun(daemon)
      await other.signalProcess(handle, found!, 'HUP', 'attached')
      await opened.exited
      expect(await isAlive(daemon)).toBe(true)
      await output(`kill ${daemon}`)
      expect(await other.abandonedExecs(handle)).not.toContainEqual(found)
    })

    test('is adopted by another driver instance, which ends its tree', async () => {
      const { driver, handle } = subject
      const opened = await bash('setsid sleep 9917 & echo $!; sleep 9918')
      const { stdout, stderr } = streamsOf(opened)
      stderr.resume()
      const child = await firstLine(stdout)
      const other = subject.makeDriver()
      const reference = JSON.parse(JSON.stringify(opened.reference))
      expect((await other.abandonedExecs(handle)).map(({ mark }) => mark)).toEqual([reference.mark])
      await other.signalProcess(handle, reference, 'CONT', 'process')
      await other.endExec(handle, reference)
      stdout.resume()
      expect(await opened.exited).toEqual({ exitCode: null, signal: 'KILL' })
      if (subject.hasShell) expect(await isAlive(child)).toBe(false)
      expect(await driver.abandonedExecs(handle)).toEqual([])
    })
  })
}
