/** Needs root and the system user `nobody`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requestJson } from '@dock/foundation'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { listenForRoot, listenOnPort } from './listening-sockets.ts'

let folder: string
const descriptors: number[] = []
const children: ChildProcess[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-listen-'))
  await chmod(folder, 0o755)
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  for (const descriptor of descriptors.splice(0)) closeSync(descriptor)
  await rm(folder, { recursive: true })
})

const held = (descriptor: number): number => {
  descriptors.push(descriptor)
  return descriptor
}

/** Starts a process that serves HTTP on descriptor 3 and responds with `name`. */
const serve = async (descriptor: number, name: string): Promise<ChildProcess> => {
  const program = `require('node:http').createServer((_, response) => response.end('"${name}"'))
    .listen({ fd: 3 }, () => console.log('ready'))`
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit', descriptor] })
  children.push(child)
  await once(child.stdout!, 'data')
  return child
}

const ask = async (address: string): Promise<unknown> =>
  (await requestJson(address, '/', { method: 'GET', signal: AbortSignal.timeout(20_000) })).body

/** Returns the exit code of a process of `nobody` that tries to listen on the port. */
const takeAsNobody = async (port: number): Promise<number | null> => {
  const program = `const server = require('node:net').createServer()
    server.once('error', (error) => process.exit(error.code === 'EADDRINUSE' ? 3 : 4))
    server.listen(${port}, '127.0.0.1', () => process.exit(0))`
  const child = spawn(process.execPath, ['-e', program], { uid: 65_534, gid: 65_534, stdio: 'inherit' })
  return ((await once(child, 'exit')) as [number | null])[0]
}

it('keeps the port and its waiting callers while the server behind it restarts', async () => {
  const port = await freePort()
  const descriptor = held(await listenOnPort('127.0.0.1', port))
  const first = await serve(descriptor, 'first')
  expect(await ask(`http://127.0.0.1:${port}`)).toBe('first')
  first.kill('SIGKILL')
  await once(first, 'exit')
  expect(await takeAsNobody(port)).toBe(3)
  const waiting = ask(`http://127.0.0.1:${port}`)
  const second = await serve(descriptor, 'second')
  expect(await waiting).toBe('second')
  // Control: the port can be taken once it is released.
  second.kill('SIGKILL')
  await once(second, 'exit')
  closeSync(descriptors.pop()!)
  expect(await takeAsNobody(port)).toBe(0)
})

it('reports a port that is already in use, for IPv4 and IPv6', async () => {
  const port = await freePort()
  held(await listenOnPort('127.0.0.1', port))
  await expect(listenOnPort('127.0.0.1', port)).rejects.toThrow(/is taken .* PORT=/)
  await expect(listenOnPort('localhost', await freePort()).then(held)).resolves.toBeGreaterThan(2)
  await expect(listenOnPort('::1', port).then(held)).resolves.toBeGreaterThan(2)
  await expect(listenOnPort('192.0.2.1', port)).rejects.toThrow(/Set DOCK_BIND/)
})

it('only root can connect to the root socket', async () => {
  const path = join(folder, 'door/control.sock')
  const descriptor = held(await listenForRoot(path))
  await serve(descriptor, 'root')
  expect(await ask(`unix:${path}`)).toBe('root')
  // The socket's own mode protects it too, even if the folder were open.
  await chmod(join(folder, 'door'), 0o755)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const program = `require('node:net').connect(${JSON.stringify(path)}).once('error', (error) =>
    process.exit(error.code === 'EACCES' ? 3 : 4)).once('connect', () => process.exit(0))`
  const child = spawn(process.execPath, ['-e', program], { uid: 65_534, gid: 65_534, stdio: 'inherit' })
  expect((await once(child, 'exit'))[0]).toBe(3)
  const byRoot = connect(path)
  await once(byRoot, 'connect')
  byRoot.destroy()
})

it('refuses a folder that another user made or can write', async () => {
  const path = (name: string) => join(folder, name, 'control.sock')
  await mkdir(join(folder, 'open'))
  await chmod(join(folder, 'open'), 0o777)
  await mkdir(join(folder, 'real'), { mode: 0o700 })
  await symlink(join(folder, 'real'), join(folder, 'link'))
  for (const name of ['open', 'link'])
    await expect(listenForRoot(path(name))).rejects.toThrow(/mode 0700 that belongs to root/)
})
