import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SshClient } from './ssh-client.ts'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

/** For a busy machine. */
const patiently = { timeout: 60_000 }

let world: SshWorld
let client: SshClient
let port: number
let dockId: string

beforeAll(async () => {
  world = await startSshWorld()
  client = world.client
  port = world.port
})
afterAll(() => world?.stop())
beforeEach(async () => {
  dockId = await world.server.addDock()
})

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')
const numbers = (count: number): string =>
  `${Array.from({ length: count }, (_, index) => index + 1).join('\n')}\n`
const ssh = (...args: string[]) => client.ssh(dockId, ...args)

/** Makes a tree with names and bytes that a careless copy changes. Returns the sum of all files. */
const makeTree = async (folder: string): Promise<void> => {
  await mkdir(join(folder, 'a/b c'), { recursive: true })
  await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      writeFile(join(folder, `a/file ${index}`), randomBytes((index * 977) % 70_000)),
    ),
  )
  await writeFile(join(folder, 'a/b c/ümläut'), 'text\n', { mode: 0o755 })
  await writeFile(join(folder, 'a/large'), randomBytes(3_000_000))
}
const sumOf = async (folder: string): Promise<string> => {
  const listed = await client.run('bash', [
    '-c',
    'cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum; find . -type f -perm -100',
    'sh',
    folder,
  ])
  expect(listed.code).toBe(0)
  return listed.stdout
}

describe('a command', () => {
  it('has separate outputs, input and an exit code', async () => {
    const args = [...client.options(), '-l', dockId, '127.0.0.1', 'cat; echo "to stderr" >&2; exit 7']
    const ended = await client.run('ssh', args, 'the input\n')
    expect(ended).toEqual({ code: 7, signal: null, stdout: 'the input\n', stderr: 'to stderr\n' })
  })

  it('that a signal ends is reported with the signal', async () => {
    const ended = await ssh('-v', '-o', 'LogLevel=DEBUG1', 'kill -TERM $$')
    expect(ended.code).toBe(255)
    expect(ended.stderr).toContain('exit-signal')
  })

  it('gets the variables that the client sends, and the addresses of the connection', async () => {
    const ended = await ssh(
      '-o',
      // No machine has this locale, so a session gets one that every image has.
      'SetEnv=LANG=xx_XX.UTF-8 MY_WORD=hello',
      'echo $LANG $MY_WORD; echo $SSH_CONNECTION',
    )
    const [variables, connection] = ended.stdout.split('\n')
    expect(variables).toBe('C.UTF-8 hello')
    expect(connection).toMatch(new RegExp(`^127\\.0\\.0\\.1 \\d+ 127\\.0\\.0\\.1 ${port}$`))
  })

  it('carries bytes unchanged in both directions', async () => {
    const bytes = randomBytes(20_000_000)
    const args = [...client.options(), '-l', dockId, '127.0.0.1', 'cat']
    const ended = await client.run('ssh', args, bytes)
    expect(sha256(Buffer.from(ended.stdout, 'latin1'))).toBe(sha256(bytes))
    expect(ended.code).toBe(0)
  })

  it('writes to both outputs at once, more than fits into the window, without losing a byte', async () => {
    const count = 300_000
    const ended = await ssh(`seq 1 ${count} & seq 1 ${count} >&2; wait`)
    const expected = sha256(numbers(count))
    expect([sha256(ended.stdout), sha256(ended.stderr)]).toEqual([expected, expected])
  })

  it('waits for a client that reads slowly', async () => {
    const args = [...client.options(), '-l', dockId, '127.0.0.1', 'head -c 30000000 /dev/zero; echo done >&2']
    const child = client.start('ssh', args)
    let isDone = false
    child.stderr.on('data', () => {
      isDone = true
    })
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(isDone).toBe(false)
    let bytes = 0
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length
    })
    await once(child, 'close')
    expect([bytes, isDone]).toEqual([30_000_000, true])
  })

  it('ends with SIGPIPE when the client no longer reads its output', async () => {
    // Noted in a file: a client that has closed its output may drop the last bytes of the standard error.
    const command = `'yes; echo "ended with $?" >ended-${dockId}'`
    const piped = `ssh ${client.options().join(' ')} -l ${dockId} 127.0.0.1 ${command} | head -n 1`
    // Its input stays open: otherwise the client closes the whole session.
    const child = client.start('bash', ['-c', piped])
    let stdout = ''
    child.stdout.on('data', (bytes: Buffer) => {
      stdout += bytes
    })
    await once(child, 'close')
    expect(stdout).toBe('y\n')
    expect(await readFile(join(fakeProcessFolder(), `ended-${dockId}`), 'utf8')).toMatch(/^ended with 1/)
  })

  it('that the client leaves is hung up, and a daemon that it started lives on', async () => {
    const child = client.start('ssh', [
      ...[...client.options(), '-l', dockId, '127.0.0.1'],
      'setsid sleep 300 >/dev/null 2>&1 </dev/null & echo $!; sleep 300 & echo $!; wait',
    ])
    let seen = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text
    })
    await expect.poll(() => seen.split('\n').length).toBe(3)
    const [daemon, other] = seen.split('\n').map(Number) as [number, number]
    // Before, it is in the group that is hung up.
    await expect.poll(() => readFile(`/proc/${daemon}/comm`, 'utf8')).toBe('sleep\n')
    child.kill('SIGKILL')
    await expect.poll(() => isAlive(other)).toBe(false)
    expect(isAlive(daemon)).toBe(true)
    process.kill(daemon, 'SIGKILL')
  })
})

describe('a long command', () => {
  const word = (bytes: number): string => 'a'.repeat(bytes)

  it.each(['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com'])('of 64 KiB runs with %s', async (cipher) => {
    const command = (bytes: number): string => `printf %s ${word(bytes - 18)} | wc -c`
    for (const bytes of [34_900, 35_000, 35_100, 40_000, 65_536])
      expect(await ssh('-c', cipher, command(bytes))).toMatchObject({ code: 0, stdout: `${bytes - 18}\n` })
  })

  it('runs beside other sessions of a shared connection, also after new keys', async () => {
    const control = ['-o', `ControlPath=${join(client.folder, 'control-long')}`]
    const master = client.start('ssh', [
      ...[...client.options(), ...control, '-o', 'ControlMaster=yes', '-o', 'RekeyLimit=100K'],
      ...['-N', '-l', dockId, '127.0.0.1'],
    ])
    await expect.poll(async () => (await ssh(...control, '-O', 'check')).code, patiently).toBe(0)
    const bytes = randomBytes(1_000_000)
    const copied = client.run(
      'ssh',
      [...client.options(), ...control, '-l', dockId, '127.0.0.1', 'cat'],
      bytes,
    )
    for (let round = 0; round < 4; round += 1) {
      const ended = await ssh(...control, `echo ${word(60_000)} | wc -c`)
      expect(ended).toMatchObject({ code: 0, stdout: '60001\n' })
    }
    expect(sha256(Buffer.from((await copied).stdout, 'latin1'))).toBe(sha256(bytes))
    master.kill()
    await once(master, 'close')
  })

  it('of more than 64 KiB is refused, and the connection goes on', async () => {
    const ended = await ssh(`: ${word(65_535)}`)
    expect(ended).toMatchObject({ code: 1 })
    expect(ended.stderr).toMatch(/^dock: A command has at most 65536 bytes/)
  })

  it('that the cipher does not allow ends the connection with the reason', async () => {
    const ended = await ssh('-c', 'aes128-ctr', `: ${word(40_000)}`)
    expect(ended.code).toBe(255)
    expect(ended.stderr).toContain('a packet is too long')
  })
})

describe('a command that leaves a process behind', () => {
  it('ends when nobody holds its outputs any more, with the exit code of the program', async () => {
    const child = client.start('ssh', [
      ...[...client.options(), '-l', dockId, '127.0.0.1'],
      `mkfifo go-${dockId}; (read -r line <go-${dockId}; seq 200000; echo late >&2) & echo hi; exit 7`,
    ])
    let [stdout, stderr] = ['', '']
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    const ended = once(child, 'close')
    await expect.poll(() => stdout, patiently).toBe('hi\n')
    await writeFile(join(fakeProcessFolder(), `go-${dockId}`), 'go\n')
    expect((await ended)[0]).toBe(7)
    expect([sha256(stdout.slice(3)), stderr]).toEqual([sha256(numbers(200_000)), 'late\n'])
  })

  it.each([
    ['a pipeline in the background', 'seq 200000 | cat & exit 0'],
    ['a substituted process', 'exec > >(cat); seq 200000'],
  ])('loses nothing of %s', async (_, command) => {
    const ended = await ssh(command)
    expect([ended.code, sha256(ended.stdout)]).toEqual([0, sha256(numbers(200_000))])
  })

  it('ends at once if the output of that process goes elsewhere', async () => {
    const ended = await ssh('sleep 300 >/dev/null 2>&1 </dev/null & echo $!')
    expect(ended.code).toBe(0)
    process.kill(Number(ended.stdout), 'SIGKILL')
  })

  it('hangs that process up when the client leaves', async () => {
    const child = client.start('ssh', [
      ...[...client.options(), '-l', dockId, '127.0.0.1'],
      'sleep 300 & echo $! $$',
    ])
    let seen = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen += text
    })
    await expect.poll(() => seen, patiently).toContain('\n')
    const [holder, program] = seen.split(' ').map(Number) as [number, number]
    await expect.poll(() => isAlive(program), patiently).toBe(false)
    expect(isAlive(holder)).toBe(true)
    child.kill('SIGKILL')
    await expect.poll(() => isAlive(holder), patiently).toBe(false)
  })

  it('ends for a client that no longer reads, when that process has gone', async () => {
    const command = `'sleep 300 & echo $! >pid-${dockId}; yes'`
    const piped = `ssh ${client.options().join(' ')} -l ${dockId} 127.0.0.1 ${command} | head -n 1`
    const child = client.start('bash', ['-c', piped])
    child.stdout.resume()
    const ended = once(child, 'close')
    const pid = async (): Promise<number> =>
      Number(await readFile(join(fakeProcessFolder(), `pid-${dockId}`), 'utf8').catch(() => '0'))
    await expect.poll(pid, patiently).toBeGreaterThan(0)
    process.kill(await pid(), 'SIGKILL')
    await ended
  })

  it('ends on a terminal with the program, as terminals do', async () => {
    // It says its id once it leads a session of its own: before, the end of the terminal reaches it.
    const left = 'setsid bash -c "echo \\$\\$ >left-$$; exec sleep 300"'
    const ended = await ssh('-tt', `mkfifo left-$$; ${left} & cat left-$$`)
    expect(ended.code).toBe(0)
    process.kill(Number(ended.stdout), 'SIGKILL')
  })
})

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

describe('a terminal', () => {
  it('has a size and a type, is resized, and tells the exit code', async () => {
    const inTerminal = ['-tt', '-o', 'SetEnv=TERM=xterm-256color']
    const command = 'stty size; echo $TERM; tty | sed "s/[0-9]*$//"; exit 5'
    const ssh = ['ssh', ...client.options(), ...inTerminal, '-l', dockId, '127.0.0.1', `'${command}'`]
    const script = `stty rows 33 cols 111; exec ${ssh.join(' ')}`
    const ended = await client.run('script', [
      '-qec',
      `TERM=screen bash -c ${JSON.stringify(script)}`,
      '/dev/null',
    ])
    expect(ended.stdout).toContain('33 111\r\n')
    expect(ended.stdout).toContain('/dev/pts/')
    expect(ended.code).toBe(5)
  })

  it('opens a login shell without a command', async () => {
    const args = [...client.options(), '-tt', '-l', dockId, '127.0.0.1']
    const ended = await client.run('ssh', args, 'echo "the sum is $((20 + 22))"; exit 3\n')
    expect(ended.stdout).toContain('the sum is 42')
    expect(ended.code).toBe(3)
  })

  it('runs a script from its input without a terminal, as editors do', async () => {
    const args = [...client.options(), '-T', '-l', dockId, '127.0.0.1']
    const ended = await client.run('ssh', args, 'shopt -q login_shell && echo login\necho "$0"\nexit 4\n')
    expect(ended.stdout).toMatch(/^login\n/)
    expect(ended.code).toBe(4)
  })
})

describe('a copy', () => {
  let source: string
  let sum: string
  beforeAll(async () => {
    source = join(client.folder, 'source')
    await makeTree(source)
    sum = await sumOf(source)
  })
  const remote = (path: string): string => `${dockId}@127.0.0.1:${path}`

  it.each([
    ['sftp', []],
    ['scp', ['-O']],
  ] as const)('goes there and back with scp over %s', async (_, mode) => {
    const there = `there-${dockId}`
    const up = await client.run('scp', [...client.options(), ...mode, '-rpq', source, remote(there)])
    expect(up).toMatchObject({ code: 0, stderr: '' })
    expect(await sumOf(join(fakeProcessFolder(), there))).toBe(sum)
    const back = join(client.folder, `back-${dockId}`)
    const down = await client.run('scp', [...client.options(), ...mode, '-rpq', remote(there), back])
    expect(down).toMatchObject({ code: 0, stderr: '' })
    expect(await sumOf(back)).toBe(sum)
  })

  it('goes there and back with rsync', async () => {
    const shell = ['-e', `ssh ${client.options().join(' ')}`]
    const there = `rsync-${dockId}`
    const up = await client.run('rsync', ['-a', ...shell, `${source}/`, remote(`${there}/`)])
    expect(up).toMatchObject({ code: 0, stderr: '' })
    const back = join(client.folder, `rsync-${dockId}`)
    expect(await client.run('rsync', ['-a', ...shell, remote(`${there}/`), `${back}/`])).toMatchObject({
      code: 0,
    })
    expect(await sumOf(back)).toBe(sum)
  })

  it('is made by sftp', async () => {
    const batch = `mkdir sftp-${dockId}\nput source/a/large sftp-${dockId}/x\nls -l sftp-${dockId}\nget sftp-${dockId}/x y\n`
    const ended = await client.run('sftp', [...client.options(), '-b', '-', `${dockId}@127.0.0.1`], batch)
    expect(ended).toMatchObject({ code: 0 })
    expect(await readFile(join(client.folder, 'y'))).toEqual(await readFile(join(source, 'a/large')))
  })

  it('is pushed and cloned by git', async () => {
    await ssh(`git init -q --bare repo-${dockId}.git`)
    const git = `
      set -e; export GIT_SSH_COMMAND="ssh ${client.options().join(' ')}" GIT_CONFIG_GLOBAL=/dev/null
      rm -rf work copy; git init -q work; cd work; git config user.email a@b; git config user.name A
      cp -r ../source/a .; git add .; git commit -qm first; git push -q ${remote(`repo-${dockId}.git`)} HEAD:refs/heads/main
      cd ..; git clone -qb main ${remote(`repo-${dockId}.git`)} copy; diff -r source/a copy/a`
    expect(await client.run('bash', ['-c', git])).toMatchObject({ code: 0, stdout: '', stderr: '' })
    await rm(join(client.folder, 'copy'), { recursive: true })
  })
})

describe('a shared connection', () => {
  it('carries twelve sessions at once', async () => {
    const control = ['-o', `ControlPath=${join(client.folder, 'control')}`]
    const master = client.start('ssh', [
      ...[...client.options(), ...control, '-o', 'ControlMaster=yes', '-N', '-l', dockId, '127.0.0.1'],
    ])
    await expect.poll(async () => (await ssh(...control, '-O', 'check')).code, { timeout: 60_000 }).toBe(0)
    const ended = await Promise.all(
      Array.from({ length: 12 }, (_, index) => ssh(...control, `sleep 1; echo ${index}; exit ${index}`)),
    )
    expect(ended.map(({ code, stdout }) => [code, stdout])).toEqual(
      Array.from({ length: 12 }, (_, index) => [index, `${index}\n`]),
    )
    master.kill()
    await once(master, 'close')
  })
})
