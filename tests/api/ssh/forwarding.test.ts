import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SshClient } from './ssh-client.ts'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld
let client: SshClient
let dockId: string
const cleanUps: (() => void)[] = []

beforeAll(async () => {
  world = await startSshWorld()
  client = world.client
})
afterAll(() => world?.stop())
beforeEach(async () => {
  dockId = await world.server.addDock()
})
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0)) cleanUp()
})

/** Sends everything back after the client has ended its half, with a byte in front. */
const echo = (socket: Socket): void => {
  socket.on('error', () => undefined)
  void buffer(socket).then(
    (bytes) => socket.end(Buffer.concat([Buffer.from('>'), bytes])),
    () => undefined,
  )
}
const listen = async (where: { port: number; host: string } | { path: string }): Promise<Server> => {
  const server = createServer({ allowHalfOpen: true }, echo)
  server.listen(where)
  await once(server, 'listening')
  cleanUps.push(() => server.close())
  return server
}
const portOf = (server: Server): number => (server.address() as AddressInfo).port
/** Starts ssh with these options and without a command. Waits until `isReady` holds. */
const forward = async (...options: string[]): Promise<void> => {
  const child = client.start('ssh', [
    ...[...client.options(), '-o', 'ExitOnForwardFailure=yes', ...options],
    ...['-l', dockId, '127.0.0.1', 'echo ready; exec sleep 300'],
  ])
  cleanUps.push(() => child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.on('data', (text: Buffer) => {
    stderr += text
  })
  const [first] = await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'close').then(() => [`ended: ${stderr}`]),
  ])
  expect(String(first)).toBe('ready\n')
}
/** Sends bytes, ends, and returns what comes back. */
const exchange = async (where: { port: number } | { path: string }, bytes: Buffer): Promise<Buffer> => {
  const socket = connect({ ...where, allowHalfOpen: true })
  socket.end(bytes)
  return buffer(socket)
}
const expected = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from('>'), bytes])

describe('-L', () => {
  it('reaches a port of the Dock, each direction with an end of its own', async () => {
    const target = await listen({ port: 0, host: '127.0.0.1' })
    const port = await freePort()
    await forward('-L', `${port}:localhost:${portOf(target)}`)
    const bytes = randomBytes(5_000_000)
    const answers = await Promise.all([exchange({ port }, bytes), exchange({ port }, Buffer.from('small'))])
    expect(answers[0].equals(expected(bytes))).toBe(true)
    expect(answers[1].toString()).toBe('>small')
    expect(world.server.host.connections.processes.filter(({ dockId: id }) => id === dockId)).toHaveLength(1)
  })

  it('lets the client go on after the target has ended its half', async () => {
    const received = Promise.withResolvers<string>()
    const target = createServer({ allowHalfOpen: true }, (socket) => {
      socket.end('first')
      void buffer(socket).then((bytes) => received.resolve(String(bytes)), received.reject)
    }).listen(0, '127.0.0.1')
    await once(target, 'listening')
    cleanUps.push(() => target.close())
    const port = await freePort()
    await forward('-L', `${port}:localhost:${portOf(target)}`)
    const socket = connect({ port, allowHalfOpen: true })
    expect(String(await buffer(socket))).toBe('first')
    socket.end('second')
    expect(await received.promise).toBe('second')
    await expect.poll(() => socket.closed).toBe(true)
  })

  it('closes a connection to a port on which nothing listens', async () => {
    const [port, closed] = [await freePort(), await freePort()]
    await forward('-L', `${port}:localhost:${closed}`)
    expect(await exchange({ port }, Buffer.from('x')).catch(() => Buffer.alloc(0))).toHaveLength(0)
  })

  it('reaches another address from inside the Dock, and names that the Dock resolves', async () => {
    const target = await listen({ port: 0, host: '127.0.0.2' })
    const [port, named] = [await freePort(), await freePort()]
    await forward(...['-L', `${port}:127.0.0.2:${portOf(target)}`, '-L', `${named}:${'name.invalid'}:80`])
    const bytes = randomBytes(5_000_000)
    const answers = await Promise.all(Array.from({ length: 5 }, () => exchange({ port }, bytes)))
    for (const answer of answers) expect(answer.equals(expected(bytes))).toBe(true)
    expect(await exchange({ port: named }, Buffer.from('x')).catch(() => Buffer.alloc(0))).toHaveLength(0)
  })

  it('reaches a Unix socket in the Dock', async () => {
    const path = join(fakeProcessFolder(), `socket-${dockId}`)
    await listen({ path })
    const local = join(client.folder, 'local.sock')
    await forward('-o', 'StreamLocalBindUnlink=yes', '-L', `${local}:${path}`)
    const bytes = randomBytes(2_000_000)
    expect((await exchange({ path: local }, bytes)).equals(expected(bytes))).toBe(true)
  })
})

describe('-D', () => {
  it('is a proxy into the Dock', async () => {
    const target = createHttpServer((_, response) => response.end('from the Dock')).listen(0, '127.0.0.2')
    await once(target, 'listening')
    cleanUps.push(() => target.close())
    const port = await freePort()
    await forward('-D', `${port}`)
    const url = `http://127.0.0.2:${(target.address() as AddressInfo).port}/`
    const answer = await client.run('curl', ['-sS', '--socks5-hostname', `127.0.0.1:${port}`, url])
    expect(answer).toMatchObject({ code: 0, stdout: 'from the Dock' })
  })
})

describe('-R', () => {
  it('listens in the Dock and reaches a port of the client', async () => {
    const target = await listen({ port: 0, host: '127.0.0.1' })
    const port = await freePort()
    await forward('-R', `${port}:127.0.0.1:${portOf(target)}`)
    const bytes = randomBytes(5_000_000)
    const answers = await Promise.all(Array.from({ length: 4 }, () => exchange({ port }, bytes)))
    for (const answer of answers) expect(answer.equals(expected(bytes))).toBe(true)
  })

  it('is refused where something listens already', async () => {
    const target = await listen({ port: 0, host: '127.0.0.1' })
    const ended = await client.ssh(
      dockId,
      ...['-o', 'ExitOnForwardFailure=yes', '-R', `${portOf(target)}:127.0.0.1:1`, 'exec sleep 300'],
    )
    expect(ended.code).toBe(255)
    expect(ended.stderr).toContain('remote port forwarding failed')
  })

  it('listens on a Unix socket, which is removed at the end', async () => {
    const target = await listen({ port: 0, host: '127.0.0.1' })
    const path = join(fakeProcessFolder(), `remote-${dockId}`)
    await forward('-R', `${path}:127.0.0.1:${portOf(target)}`)
    expect((await exchange({ path }, Buffer.from('hello'))).toString()).toBe('>hello')
    for (const cleanUp of cleanUps.splice(0)) cleanUp()
    await expect.poll(async () => (await client.run('test', ['-e', path])).code).toBe(1)
  })
})

describe('-A', () => {
  it('lets programs in the Dock sign with the keys of the client', async () => {
    const agent = client.start('ssh-agent', ['-D', '-a', join(client.folder, 'agent')])
    cleanUps.push(() => agent.kill())
    await expect
      .poll(async () => (await client.run('test', ['-S', join(client.folder, 'agent')])).code)
      .toBe(0)
    const inAgent = (script: string) =>
      client.run('bash', ['-c', `export SSH_AUTH_SOCK=$PWD/agent; ${script}`])
    expect(await inAgent('ssh-add -q id')).toMatchObject({ code: 0 })
    await writeFile(join(client.folder, 'message'), 'a message')
    const sign =
      'echo a message >m; ssh-keygen -q -Y sign -n file -f key.pub m 2>/dev/null; cat m.sig; rm -f m.sig; echo $SSH_AUTH_SOCK'
    const options = client.options().join(' ')
    const ended = await inAgent(
      `cat id.pub | ssh ${options} -l ${dockId} 127.0.0.1 'cat >key.pub'; ssh ${options} -A -l ${dockId} 127.0.0.1 '${sign}'`,
    )
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(ended.stdout).toContain('BEGIN SSH SIGNATURE')
    const socket = ended.stdout.trim().split('\n').at(-1)!
    expect(socket).toMatch(/^\/tmp\/ssh-[0-9a-f]{24}\/agent$/)
    await expect.poll(async () => (await client.run('test', ['-e', socket])).code).toBe(1)
  })
})
