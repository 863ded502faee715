import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { frameParts } from './frames.ts'
import { GuestLink } from './guest-link.ts'
import type { GuestProgram } from './guest-program.ts'
import { protocol, sizes, types } from './protocol.ts'
import type { OpenRequest } from './requests.ts'
import { type BareAgent, startBareAgent } from './testing/bare-agent.ts'

/** The agent is compiled with gcc here, and its namespaces need root. */
const hasCompiler = spawnSync('gcc', ['--version']).status === 0 && process.getuid?.() === 0
const patiently = { timeout: 60_000 }
const env = { PATH: '/usr/local/bin:/usr/bin:/bin' }

let agent: BareAgent
let link: GuestLink

const open = (argv: readonly string[], more: Partial<OpenRequest> = {}): Promise<GuestProgram> =>
  link.open({ ...{ argv, env, cwd: '/tmp', uid: 0, gid: 0 }, ...more })
const bash = (script: string, more?: Partial<OpenRequest>) => open(['/bin/bash', '-c', script], more)
const run = async (script: string, more?: Partial<OpenRequest>) => {
  const program = await bash(script, more)
  program.stdin.end()
  const [stdout, stderr, { exitCode, signal }] = await Promise.all([
    text(program.stdout),
    text(program.stderr),
    program.exited,
  ])
  await program.close()
  return { stdout, stderr, exitCode, signal }
}

describe.runIf(hasCompiler)('the link to a guest', () => {
  beforeAll(async () => {
    agent = await startBareAgent()
    link = await agent.link({ onLog: (line) => console.log(line) })
  })
  afterAll(() => agent?.stop())

  it('runs a command with its folder, user, variables and input', async () => {
    const program = await bash('echo "$PWD $(id -u):$(id -g) $WORD"; echo err >&2; cat; exit 7', {
      ...{ uid: 1000, gid: 1000, env: { ...env, WORD: 'a b' } },
    })
    program.stdin.end('input')
    expect(await text(program.stdout)).toBe('/tmp 1000:1000 a b\ninput')
    expect(await text(program.stderr)).toBe('err\n')
    expect(await program.exited).toEqual({ exitCode: 7, signal: null, killedForMemory: [] })
    await program.close()
    expect(await link.programs()).toEqual([])
  })

  it('refuses what does not exist', async () => {
    await expect(open(['/no/such'])).rejects.toThrow('/no/such: No such file or directory')
    await expect(open(['no-such'])).rejects.toMatchObject({ reason: 'program' })
    await expect(bash('true', { cwd: '/no/such' })).rejects.toMatchObject({ reason: 'folder' })
    expect((await run('exit 3', {})).exitCode).toBe(3)
  })

  it.runIf(existsSync('/dev/fuse'))(
    'goes on while a program’s folder never answers, and kills it',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'dock-hung-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const options = 'fd=9,rootmode=40000,user_id=0,group_id=0'
      const server = await bash(
        `exec 9<>/dev/fuse; mount -i -t fuse -o ${options} none ${folder} && echo mounted; sleep 1000`,
      )
      expect(String((await once(server.stdout, 'data'))[0])).toBe('mounted\n')
      const reader = await bash('cat')
      const writer = await bash('trap "" HUP; while echo line; do :; done')
      let id = 0
      const opening = link.open({ argv: ['true'], env, cwd: folder, uid: 0, gid: 0 }, (chosen) => {
        id = chosen
      })
      expect((await run('echo fine')).stdout).toBe('fine\n')
      // What waits to start holds nobody else's streams.
      reader.stdin.end('input')
      expect(await text(reader.stdout)).toBe('input')
      writer.stdout.destroy()
      expect(await writer.exited).toMatchObject({ signal: 13 })
      for (const program of [reader, writer]) await program.close()
      link.signal(id, 9, 'tree')
      const killed = await opening
      expect(await killed.exited).toMatchObject({ exitCode: null, signal: 9 })
      await killed.close()
      link.signal(server.id, 9, 'tree')
      await server.exited
      await server.close()
    },
  )

  it('blocks a program whose output is not read, and loses nothing', async () => {
    const program = await bash(
      'printf -v block %65536s; for ((i = 0; i < 64; i++)); do printf %s "$block"; echo $i >&2; done',
    )
    let lines = 0
    program.stderr.on('data', (chunk: Buffer) => {
      lines += String(chunk).split('\n').length - 1
    })
    await expect.poll(() => program.stdout.received, patiently).toBe(sizes.window)
    await link.ping()
    expect(lines).toBeLessThan(8)
    expect((await text(program.stdout)).length).toBe(64 * 65_536)
    await program.exited
    await expect.poll(() => lines, patiently).toBe(64)
    await program.close()
  })

  it('holds a writer back while the program does not read, and gives it every byte later', async () => {
    const program = await bash('trap "wc -c; exit" USR1; echo ready; while :; do sleep 0.05 </dev/null; done')
    let seen = ''
    program.stdout.on('data', (chunk: Buffer) => {
      seen += chunk
    })
    await expect.poll(() => seen, patiently).toBe('ready\n')
    let taken = 0
    for (let sent = 0; sent < 8; sent += 1)
      program.stdin.write(Buffer.alloc(2 ** 20), () => {
        taken += 1
      })
    program.stdin.end()
    for (let turn = 0; turn < 20; turn += 1) await link.ping()
    expect(taken).toBe(0)
    link.signal(program.id, 10, 'process')
    await program.exited
    await expect.poll(() => seen, patiently).toBe(`ready\n${8 * 2 ** 20}\n`)
    await program.close()
  })

  it('carries 64 MiB in both directions at once', async () => {
    const program = await open(['cat'])
    let bytes = 0
    program.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    const piece = Buffer.alloc(2 ** 20)
    for (let sent = 0; sent < 64; sent += 1)
      if (!program.stdin.write(piece)) await once(program.stdin, 'drain')
    program.stdin.end()
    await program.exited
    await expect.poll(() => bytes, patiently).toBe(64 * 2 ** 20)
    await program.close()
  })

  it('ends outputs with the program, and what it left behind writes on', async () => {
    const { stdout } = await run('(sleep 0.3; echo late; echo late >/tmp/dock-late-$BASHPID) & echo $!')
    const pid = stdout.trim()
    const wrote = `test -e /tmp/dock-late-${pid} && rm /tmp/dock-late-${pid} && echo yes`
    await expect.poll(async () => (await run(wrote)).stdout, patiently).toBe('yes\n')
  })

  it('waits for outputs if asked', async () => {
    const program = await bash('(sleep 0.3; seq 200000; echo late >&2) & exit 7', { waitsForOutputs: true })
    expect((await program.exited).exitCode).toBe(7)
    expect(program.stdout.received).toBe(0)
    const [out, err] = await Promise.all([text(program.stdout), text(program.stderr)])
    expect([out.length, err]).toEqual([1_288_895, 'late\n'])
    await program.close()
  })

  it('kills a tree with the processes that detached themselves', async () => {
    const program = await bash(`setsid sleep 7771 & nohup sleep 7772 >/dev/null & (sleep 7773 &)
      env -i setsid bash -c 'env -i sleep 7774 & sleep 7775 &'
      (env -i setsid unshare --user sleep 7776 &)
      exec sleep 7777`)
    const sleeps = async () => (await link.processes()).filter(({ name }) => name === 'sleep').length
    await expect.poll(sleeps, patiently).toBe(7)
    link.signal(program.id, 9, 'tree')
    expect(await program.exited).toMatchObject({ exitCode: null, signal: 9 })
    await expect.poll(sleeps, patiently).toBe(0)
    await program.close()
  })

  it('kills a fork bomb', async () => {
    const program = await bash('ulimit -u 2000; f() { f | f & }; f; sleep 100', { uid: 54_321 })
    const bashes = async () => (await link.processes()).filter(({ uid }) => uid === 54_321).length
    await expect.poll(bashes, patiently).toBeGreaterThan(100)
    link.signal(program.id, 9, 'tree')
    await program.exited
    await expect.poll(bashes, patiently).toBe(0)
    await program.close()
  })

  it('signals a program alone, with its group, or with what is attached', async () => {
    const program = await bash(
      'sleep 9912 & setsid sleep 9913 & sleep 9914 </dev/null >/dev/null 2>&1 & trap "echo heard" USR1; echo ready; while :; do wait; done',
    )
    let seen = ''
    program.stdout.on('data', (chunk: Buffer) => {
      seen += chunk
    })
    await expect.poll(() => seen, patiently).toBe('ready\n')
    link.signal(program.id, 10, 'process')
    await expect.poll(() => seen, patiently).toBe('ready\nheard\n')
    const commands = async () => (await run("pgrep -fa '^sleep 99' | cut -d' ' -f3 | xargs")).stdout.trim()
    await expect.poll(commands, patiently).toBe('9912 9913 9914')
    link.signal(program.id, 1, 'attached')
    expect(await program.exited).toMatchObject({ signal: 1 })
    await expect.poll(commands, patiently).toBe('9913 9914')
    link.signal(program.id, 15, 'group')
    await expect.poll(commands, patiently).toBe('9913')
    link.signal(program.id, 15, 'tree')
    await expect.poll(commands, patiently).toBe('')
    await program.close()
  })

  it('runs a program on a terminal, which is resized and interrupted', async () => {
    const script = `trap 'stty size; exit 5' WINCH; trap 'echo interrupted' INT
      stty size; tty >/dev/null && echo ready; while :; do sleep 0.05; done`
    const program = await bash(script, { pty: { cols: 91, rows: 17 }, uid: 1000, gid: 1000 })
    let seen = ''
    program.stdout.on('data', (chunk: Buffer) => {
      seen += chunk
    })
    await expect.poll(() => seen, patiently).toBe('17 91\r\nready\r\n')
    program.stdin.write('\x03')
    await expect.poll(() => seen, patiently).toContain('interrupted')
    link.resize(program.id, 100, 20)
    expect((await program.exited).exitCode).toBe(5)
    await expect.poll(() => seen, patiently).toContain('20 100')
    await program.close()
  })

  it('ends the input of a terminal, also in the middle of a line', async () => {
    for (const line of ['line\n', 'half']) {
      const program = await bash('cat; exit 6', { pty: { cols: 80, rows: 24 } })
      program.stdout.resume()
      program.stdin.end(line)
      expect((await program.exited).exitCode).toBe(6)
      await program.close()
    }
  })

  it('ends a program by SIGPIPE whose output nobody wants', async () => {
    const program = await open(['yes'])
    program.stderr.resume()
    program.stdout.destroy()
    expect(await program.exited).toMatchObject({ signal: 13 })
    await program.close()
  })

  it('connects to servers on loopback', async () => {
    const server = await open(
      [
        'node',
        '-e',
        `require('net').createServer({ allowHalfOpen: true }, (s) => s.on('data', (d) => s.write(d)).on('end', () => s.end('bye'))).listen(4711, '::1', () => console.log('up'))`,
      ],
      { env: { PATH: `${dirname(process.execPath)}:${env.PATH}` } },
    )
    await once(server.stdout, 'data')
    const connection = await link.dial(4711)
    connection.end('hello ')
    expect(await text(connection)).toBe('hello bye')
    await expect(link.dial(4712)).rejects.toMatchObject({ reason: 'connection' })
    link.signal(server.id, 9, 'tree')
    await server.close()
  })

  it('lists processes and programs, renames the machine and tells its usage', async () => {
    const program = await open(['sleep', '100'], { uid: 1234 })
    // Its name is that of the agent for a moment.
    await expect
      .poll(() => link.processes(), patiently)
      .toContainEqual(
        expect.objectContaining({
          pid: program.pid,
          parentPid: 1,
          uid: 1234,
          name: 'sleep',
          isPlatform: false,
        }),
      )
    expect(await link.processes()).toContainEqual(expect.objectContaining({ pid: 1, isPlatform: true }))
    expect(await link.programs()).toEqual([
      { id: program.id, pid: program.pid, isTerminal: false, hasEnded: false },
    ])
    await link.rename('another-name')
    expect((await run('hostname')).stdout).toBe('another-name\n')
    await expect(link.rename('x'.repeat(65))).rejects.toThrow('rename failed')
    expect((await link.usage()).memoryBytes).toBeGreaterThan(2 ** 28)
    link.signal(program.id, 9, 'process')
    await program.exited
    await program.close()
  })

  it('counts what a service leaves behind as the platform’s own', async () => {
    const service = await bash('sleep 4141 & echo', { isPlatform: true })
    await once(service.stdout, 'data')
    await service.exited
    await service.close()
    const program = await bash('sleep 4142 & echo')
    await once(program.stdout, 'data')
    await program.exited
    await program.close()
    const sleeps = async () =>
      (await link.processes()).flatMap(({ name, isPlatform }) => (name === 'sleep' ? isPlatform : []))
    await expect.poll(sleeps, patiently).toEqual([true, false])
    await run('pkill -f "^sleep 414"')
  })

  it('goes on over a new connection without a byte lost or doubled, however the last one broke', async () => {
    const broken = await startBareAgent()
    onTestFinished(() => broken.stop())
    const other = await broken.link()
    const program = await other.open({
      ...{ argv: ['/bin/bash', '-c', 'cat'], env, cwd: '/', uid: 0, gid: 0 },
    })
    const sum = createHash('sha256')
    let bytes = 0
    program.stdout.on('data', (chunk: Buffer) => {
      sum.update(chunk)
      bytes += chunk.length
    })
    const whole = randomBytes(24 * 2 ** 20)
    program.stdin.end(whole)
    for (let round = 0; round < 20; round += 1) {
      const wanted = (whole.length / 24) * (round + 1)
      await expect.poll(() => bytes, { ...patiently, interval: 1 }).toBeGreaterThanOrEqual(wanted - 2 ** 19)
      broken.breakConnection(round)
      await other.broken
      await other.resume(broken.connect())
    }
    expect((await program.exited).exitCode).toBe(0)
    await expect.poll(() => bytes, patiently).toBe(whole.length)
    expect(sum.digest('hex')).toBe(createHash('sha256').update(whole).digest('hex'))
    await program.close()
  })

  it('lets another link find programs, with their kept output and their end', async () => {
    const first = await startBareAgent()
    onTestFinished(() => first.stop())
    const one = await first.link()
    const request = { env, cwd: '/', uid: 0, gid: 0 }
    const running = await one.open({
      ...request,
      argv: ['/bin/bash', '-c', 'echo kept; read -r line; echo "$line"; exit 4'],
    })
    const over = await one.open({ ...request, argv: ['/bin/bash', '-c', 'kill -TERM $$'] })
    await over.exited
    one.end()
    await expect(running.exited).rejects.toThrow('ended')
    const two = await first.link()
    expect(two.isRunning).toBe(true)
    expect((await two.programs()).map(({ id, hasEnded }) => [id, hasEnded])).toEqual(
      [
        [running.id, false],
        [over.id, true],
      ].sort(([a], [b]) => Number(a) - Number(b)),
    )
    expect(await (await two.attach(over.id)).exited).toMatchObject({ signal: 15 })
    const found = await two.attach(running.id)
    found.stdin.write('line\n')
    expect(await text(found.stdout)).toBe('kept\nline\n')
    expect((await found.exited).exitCode).toBe(4)
    await expect(two.attach(12)).rejects.toMatchObject({ reason: 'unknown' })
  })

  it('serves a second port, to which a pump moves a program', async () => {
    const pump = await GuestLink.connect(agent.connect(1))
    const program = await bash('echo one; read -r line; echo "$line"')
    const moved = await pump.attach(program.id)
    moved.stdin.write('two\n')
    expect(await text(moved.stdout)).toBe('one\ntwo\n')
    await moved.close()
    pump.end()
  })

  it('speaks the newest version that both know, with newer and older hosts', async () => {
    const greet = async (newest: number, oldest: number): Promise<number> => {
      const connection = agent.connect(1)
      const nonce = randomBytes(sizes.nonce)
      const versions = Buffer.alloc(4)
      versions.writeUInt16LE(newest, 0)
      versions.writeUInt16LE(oldest, 2)
      connection.write(Buffer.alloc(sizes.header + sizes.payloadMax + 1))
      for (const part of frameParts(types.hello, 0, 0, Buffer.concat([versions, nonce])))
        connection.write(part)
      let seen = Buffer.alloc(0)
      for await (const chunk of connection) {
        seen = Buffer.concat([seen, chunk as Buffer])
        const at = seen.indexOf(nonce)
        if (at >= 0) return seen.readUInt16LE(at - 4)
      }
      throw new Error('no welcome')
    }
    const { newest, oldest } = protocol
    expect(await greet(newest + 3, oldest)).toBe(newest)
    expect(await greet(newest, newest)).toBe(newest)
    expect(await greet(newest + 3, newest + 1)).toBe(0)
    // A connection without a common version is ignored, and the next one is not.
    expect(await greet(newest, oldest)).toBe(newest)
  })

  it('leaves no descriptor and no group behind', async () => {
    const count = async () => (await run('ls /proc/1/fd | wc -l; ls -d /sys/fs/cgroup/*/p* | wc -l')).stdout
    for (let round = 0; round < 20; round += 1) await run('echo text')
    const before = await count()
    await Promise.all(Array.from({ length: 40 }, () => run('echo text >&2; exit 3')))
    await expect.poll(count, patiently).toBe(before)
  })
})
