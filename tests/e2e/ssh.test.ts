/** The SSH gateway in front of a real Dock, used by the OpenSSH clients of this machine. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { Dock } from '@dock/contract'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { addProvedKey } from '../api/ssh/add-proved-key.ts'
import { createSshClient, type Outcome, type SshClient } from '../api/ssh/ssh-client.ts'
import { createDock, run, untilState } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const name = freshName('ssh')
let dock: Dock
let client: SshClient
const cleanUps: (() => void)[] = []

beforeAll(async () => {
  const { ssh } = await server.client.call('readConfig', {})
  if (!ssh) throw new Error('the SSH gateway is off')
  client = await createSshClient(() => ssh.port)
  await addProvedKey(server.client, client, freshName('e2e'))
  dock = await createDock(server, { name })
})
afterAll(() => client?.remove())
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

const ssh = (...args: string[]): Promise<Outcome> => client.ssh(name, ...args)
const sshWith = (input: string | Buffer, ...args: string[]): Promise<Outcome> =>
  client.run('ssh', [...client.options(), '-l', name, '127.0.0.1', ...args], input)
/** Holds a connection with these options open until the test ends. */
const hold = async (...options: string[]): Promise<void> => {
  const args = [...client.options(), ...options, '-l', name, '127.0.0.1', 'echo ready; exec sleep 1000']
  const child = client.start('ssh', args)
  cleanUps.push(() => child.kill())
  await once(child.stdout, 'data')
}
const succeeded = { code: 0, stderr: '' }

describe('a session', () => {
  it('runs as the user in the home folder, with separate outputs, input and an exit code', async () => {
    const ended = await sshWith('input', 'id -un; pwd; cat; echo error >&2; exit 9')
    expect(ended).toEqual({ code: 9, signal: null, stdout: 'user\n/home/user\ninput', stderr: 'error\n' })
  })

  it('has a terminal', async () => {
    const script = `stty rows 30 cols 100; ssh ${client.options().join(' ')} -tt -l ${name} 127.0.0.1 'stty size; tty; exit 4'`
    const ended = await client.run('script', [
      '-qec',
      `TERM=xterm bash -c ${JSON.stringify(script)}`,
      '/dev/null',
    ])
    expect(ended.stdout).toMatch(/30 100\r\n\/dev\/pts\/\d+\r\n/)
    expect(ended.code).toBe(4)
  })

  it('waits for those who hold its outputs, and takes a command of 64 KiB', async () => {
    const script = 'exec > >(sleep 0.5; cat); seq 100; exit 3'
    const ended = await ssh(script.padEnd(65_536))
    expect([ended.code, ended.stdout.split('\n').length]).toEqual([3, 101])
  })

  it('that is left hangs up, and lets a daemon live', async () => {
    const child = client.start('ssh', [
      ...[...client.options(), '-l', name, '127.0.0.1'],
      'setsid sleep 4242 >/dev/null 2>&1 </dev/null & sleep 4343 & echo ready; wait',
    ])
    await once(child.stdout, 'data')
    await expect.poll(() => run(server, dock.id, 'pgrep -cf "^sleep 4242" || true')).toBe('1\n')
    child.kill('SIGKILL')
    await expect.poll(() => run(server, dock.id, 'pgrep -f "sleep 4[3]43" || echo none')).toBe('none\n')
    await run(server, dock.id, 'pkill -f "sleep 4[2]42"')
  })

  it('is one of twelve on a shared connection', async () => {
    const control = ['-o', `ControlPath=${join(client.folder, 'c')}`]
    await hold(...control, '-o', 'ControlMaster=yes')
    const ended = await Promise.all(
      Array.from({ length: 12 }, (_, at) => ssh(...control, `sleep 1; exit ${at}`)),
    )
    expect(ended.map(({ code }) => code)).toEqual(Array.from({ length: 12 }, (_, at) => at))
  })
})

describe('a copy', () => {
  let sum: string
  const remote = (path: string): string => `${name}@127.0.0.1:${path}`
  const sumOf = async (folder: string): Promise<string> => {
    const list = 'cd "$1" && find . -type f -print0 | sort -z | xargs -0 sha256sum'
    return (await client.run('bash', ['-c', list, 'sh', folder])).stdout
  }
  beforeAll(async () => {
    await mkdir(join(client.folder, 'tree/a b'), { recursive: true })
    for (let at = 0; at < 300; at++)
      await writeFile(join(client.folder, `tree/a b/${at}`), randomBytes((at * 379) % 20_000))
    sum = await sumOf(join(client.folder, 'tree'))
  })

  it.each([
    ['scp', '-rq'],
    ['scp', '-Orq'],
  ])('goes there and back with %s %s', async (program, mode) => {
    const [there, back] = [freshName('there'), freshName('back')]
    expect(await client.run(program, [...client.options(), mode, 'tree', remote(there)])).toMatchObject(
      succeeded,
    )
    expect(await client.run(program, [...client.options(), mode, remote(there), back])).toMatchObject(
      succeeded,
    )
    expect(await sumOf(join(client.folder, back))).toBe(sum)
  })

  it('goes there and back with rsync, and with git', async () => {
    const shell = ['-e', `ssh ${client.options().join(' ')}`]
    const [there, back] = [freshName('rsync'), freshName('back')]
    expect(await client.run('rsync', ['-a', ...shell, 'tree/', remote(there)])).toMatchObject(succeeded)
    expect(await client.run('rsync', ['-a', ...shell, remote(`${there}/`), back])).toMatchObject(succeeded)
    expect(await sumOf(join(client.folder, back))).toBe(sum)
    const git = `
      set -e; export GIT_SSH_COMMAND="ssh ${client.options().join(' ')}" GIT_CONFIG_GLOBAL=/dev/null
      ssh ${client.options().join(' ')} -l ${name} 127.0.0.1 git init -q --bare repo.git
      git init -q work; cd work; git config user.email a@b; git config user.name A; cp -r ../tree .; git add .
      git commit -qm first; git push -q ${remote('repo.git')} HEAD:refs/heads/main
      cd ..; git clone -qb main ${remote('repo.git')} copy; diff -r tree copy/tree`
    expect(await client.run('bash', ['-c', git])).toMatchObject(succeeded)
  })

  it('carries 50 MB up, down, and both ways at once, unchanged', async () => {
    await writeFile(join(client.folder, 'large'), randomBytes(50_000_000))
    const large = `ssh ${client.options().join(' ')} -l ${name} 127.0.0.1`
    const script = `set -e; ${large} 'cat >large' <large; ${large} 'cat large' | cmp - large && echo same
      ${large} cat <large | cmp - large && echo both`
    expect(await client.run('bash', ['-c', script])).toMatchObject({ stdout: 'same\nboth\n', stderr: '' })
    await rm(join(client.folder, 'large'))
  })
})

describe('forwarding', () => {
  const exchange = async (where: { port: number } | { path: string }, bytes: Buffer): Promise<Buffer> => {
    const socket = connect({ ...where, allowHalfOpen: true })
    socket.end(bytes)
    return buffer(socket)
  }
  /** In the Dock: a server on a TCP port or a Unix socket that sends back what it received, once that has ended. */
  const serveEcho = async (address: string): Promise<void> => {
    const program = `
import socket, sys
address = sys.argv[1]
server = socket.socket(socket.AF_UNIX) if address.startswith('/') else socket.socket()
server.bind(address if address.startswith('/') else ('127.0.0.1', int(address)))
server.listen()
while True:
    peer, _ = server.accept()
    received = b''.join(iter(lambda: peer.recv(65536), b''))
    peer.sendall(received)
    peer.close()`
    await sshWith(program, 'cat >echo.py')
    await ssh(`setsid python3 echo.py ${address} >/dev/null 2>&1 </dev/null &`)
    await ssh(
      address.startsWith('/')
        ? `until [ -S ${address} ]; do sleep 0.1; done`
        : 'until ss -ltn | grep -q 7777; do sleep 0.1; done',
    )
  }

  it('reaches a server on the loopback address and on a Unix socket of the Dock', async () => {
    await Promise.all([serveEcho('7777'), serveEcho('/home/user/echo.sock')])
    const [port, local] = [await freePort(), join(client.folder, 'l')]
    await hold('-L', `${port}:localhost:7777`, '-L', `${local}:/home/user/echo.sock`)
    const bytes = randomBytes(3_000_000)
    expect((await exchange({ port }, bytes)).equals(bytes)).toBe(true)
    expect((await exchange({ path: local }, bytes)).equals(bytes)).toBe(true)
  })

  it('listens in the Dock for a server of the client', async () => {
    const target = createServer({ allowHalfOpen: true }, (socket) => {
      void buffer(socket).then((bytes) => socket.end(bytes))
    }).listen(0, '127.0.0.1')
    await once(target, 'listening')
    cleanUps.push(() => target.close())
    const { port } = target.address() as { port: number }
    await hold('-R', `7878:127.0.0.1:${port}`, '-R', `/home/user/remote.sock:127.0.0.1:${port}`)
    const program = `
import socket, os
for family, address in ((socket.AF_INET, ('127.0.0.1', 7878)), (socket.AF_UNIX, '/home/user/remote.sock')):
    peer = socket.socket(family)
    peer.connect(address)
    sent = os.urandom(1000000)
    import threading
    threading.Thread(target=lambda: (peer.sendall(sent), peer.shutdown(socket.SHUT_WR))).start()
    received = b''.join(iter(lambda: peer.recv(65536), b''))
    print(received == sent)`
    expect((await sshWith(program, 'python3 -')).stdout).toBe('True\nTrue\n')
  })

  it('lets programs in the Dock use the agent of the client', async () => {
    const agent = client.start('ssh-agent', ['-D', '-a', join(client.folder, 'agent')])
    cleanUps.push(() => agent.kill())
    const script = `export SSH_AUTH_SOCK=$PWD/agent; until ssh-add -q id 2>/dev/null; do sleep 0.1; done
      ssh ${client.options().join(' ')} -A -l ${name} 127.0.0.1 ssh-add -l`
    const ended = await client.run('bash', ['-c', script])
    expect(ended.stdout).toMatch(/^256 SHA256:.* \(ED25519\)\n$/)
  })
})

describe('a Dock that replaced its sftp server', () => {
  const program = '/usr/lib/openssh/sftp-server'
  const replaceBy = (text: string): Promise<Outcome> =>
    sshWith(
      text,
      `sudo cp -n ${program} ${program}.own; sudo tee ${program} >/dev/null; sudo chmod 755 ${program}`,
    )
  afterEach(() => ssh(`sudo cp ${program}.own ${program}`))

  it.each([
    ['writes without end', 'exec yes'],
    ['never reads', 'exec sleep 1000'],
  ])('by a program that %s harms only its own client', async (_, line) => {
    expect(await replaceBy(`#!/bin/bash\n${line}\n`)).toMatchObject(succeeded)
    const sftp = client.start('ssh', [...client.options(), '-s', '-l', name, '127.0.0.1', 'sftp'])
    sftp.stdin.on('error', () => undefined).write(randomBytes(40_000_000))
    sftp.stdout.pause()
    const closed = once(sftp, 'exit')
    expect(await ssh('echo works')).toMatchObject({ ...succeeded, stdout: 'works\n' })
    sftp.kill('SIGKILL')
    await closed
    await expect.poll(() => run(server, dock.id, `pgrep -cf '^(yes|sleep 1000)$' || true`)).toBe('0\n')
  })
})

it('ends a program whose output nobody reads any more', async () => {
  // Noted in the Dock: a client that has closed its output may drop the last bytes of the standard error.
  const command = `ssh ${client.options().join(' ')} -l ${name} 127.0.0.1 'yes; echo "ended with $?" >ended' | head -n 1`
  const child = client.start('bash', ['-c', command])
  let stdout = ''
  child.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes
  })
  await once(child, 'close')
  expect(stdout).toBe('y\n')
  expect(await run(server, dock.id, 'cat /home/user/ended')).toMatch(/^ended with 1/)
})

it('resumes an archived Dock for a shell in a terminal, and for nothing else', async () => {
  await run(server, dock.id, 'echo kept >/home/user/note')
  await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
  await untilState(server, dock.id, ['archived'])
  const refused = await ssh('true')
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/is stopped\. Resume it/)])
  const args = [...client.options(), '-tt', '-l', name, '127.0.0.1']
  const shell = await client.run('ssh', args, 'cat note; exit 5\n')
  expect(shell.stdout + shell.stderr).toMatch(/is ready after/)
  expect(shell.stdout).toContain('kept')
  expect(shell.code).toBe(5)
})

it('shows new host keys after script/admin rotate-ssh-host-keys, and former ones no more', async () => {
  const keysOf = async (): Promise<string[]> => {
    const { ssh: at } = await server.client.call('readConfig', {})
    const scan = await client.run('bash', [
      '-c',
      `ssh-keyscan -p ${at?.port} 127.0.0.1 2>/dev/null | ssh-keygen -lf -`,
    ])
    return [...scan.stdout.matchAll(/SHA256:\S+/g)].map(([fingerprint]) => fingerprint).sort()
  }
  const before = await keysOf()
  const script = new URL('../../script/admin', import.meta.url).pathname
  const rotated = await promisify(execFile)(script, ['rotate-ssh-host-keys'], {
    env: { PATH: process.env.PATH, HOME: client.folder, DOCK_DATA_DIR: server.dataDir },
  })
  const told = [...rotated.stdout.matchAll(/SHA256:\S+/g)].map(([fingerprint]) => fingerprint).sort()
  expect(told).toHaveLength(2)
  expect(rotated.stdout + rotated.stderr).not.toContain('PRIVATE KEY')
  await expect.poll(keysOf).toEqual(told)
  expect(told.filter((each) => before.includes(each))).toEqual([])
  const refused = await ssh('true')
  expect([refused.code, refused.stderr]).toEqual([
    255,
    expect.stringContaining('Host key verification failed'),
  ])
  await rm(join(client.folder, 'known_hosts'))
  expect(await ssh('true')).toMatchObject({ code: 0 })
})
