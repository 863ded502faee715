/** Who may use a Dock in which way over SSH, with the key of each kind of person. */
import { once } from 'node:events'
import { rm, stat, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { newUuid } from '@dock/foundation'
import { addPerson, type TestPerson } from '@dock/testkit'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SshClient } from './ssh-client.ts'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld
let client: SshClient
/** A Dock with secrets that every member may see, and one with secrets for admins only. */
let docks: { open: string; gated: string }
const cleanUps: (() => unknown)[] = []
const ports = { dock: 0, inside: 0 }
const greeting = 'from the Dock\n'

type Role = 'owner' | 'admin' | 'member' | 'demoted' | 'other' | 'removed' | 'closed' | 'keyless'
const roles: Role[] = ['owner', 'admin', 'member', 'demoted', 'other', 'removed', 'closed', 'keyless']
const mayEnter: Record<keyof typeof docks, ReadonlySet<Role>> = {
  open: new Set(['owner', 'admin', 'member', 'demoted']),
  gated: new Set(['owner', 'admin']),
}

const change = (query: ReturnType<typeof sql>): Promise<unknown> => query.execute(world.server.database.db)
const listen = async (where: { port: number; host: string } | { path: string }): Promise<number> => {
  const server = createServer((socket) => socket.on('error', () => undefined).end(greeting)).listen(where)
  await once(server, 'listening')
  cleanUps.push(() => server.close())
  return (server.address() as AddressInfo).port
}
/** What each kind of person was before their key was registered, and what has happened since. */
const people: Record<Exclude<Role, 'owner'>, (person: TestPerson & { keyId: string }) => Promise<unknown>> = {
  admin: async () => undefined,
  member: async () => undefined,
  demoted: ({ userId }) => change(sql`update memberships set role = 'member' where user_id = ${userId}`),
  other: async () => undefined,
  removed: ({ userId }) => change(sql`delete from memberships where user_id = ${userId}`),
  closed: ({ userId }) => change(sql`update users set closed_at = now() where id = ${userId}`),
  keyless: ({ keyId, apiKey }) => world.server.call('DELETE', `/v1/ssh-keys/${keyId}`, undefined, apiKey),
}

beforeAll(async () => {
  world = await startSshWorld()
  client = world.client
  docks = { open: await world.server.addDock(), gated: await world.server.addDock() }
  await change(sql`update docks set marks = array[${newUuid()}::uuid] where id = ${docks.gated}`)
  await client.makeKey('owner', '-t', 'ed25519').then((key) => world.addKey(key))
  for (const [role, happens] of Object.entries(people)) {
    const now = role === 'member' || role === 'removed' ? 'member' : 'admin'
    const person = await addPerson(world.server, role === 'other' ? {} : { role: now })
    const keyId = await world.addKey(await client.makeKey(role, '-t', 'ed25519'), person.apiKey)
    await happens({ ...person, keyId })
  }
  ports.dock = await listen({ port: 0, host: '127.0.0.1' })
  ports.inside = await listen({ port: 0, host: '127.0.0.2' })
  await listen({ path: join(fakeProcessFolder(), 'door.sock') })
  await writeFile(join(fakeProcessFolder(), 'door'), greeting)
  const agent = client.start('ssh-agent', ['-D', '-a', join(client.folder, 'agent')])
  cleanUps.push(() => agent.kill())
  // It prints the path of its socket when it listens.
  await once(agent.stdout, 'data')
})
afterAll(async () => {
  for (const cleanUp of cleanUps) cleanUp()
  await world?.stop()
})

const ssh = (role: Role, dock: string, options: string[], command: string[], input = '') =>
  client.run('ssh', [...client.options(role), ...options, '-l', dock, '127.0.0.1', ...command], input)
const copy = async (role: Role, dock: string, mode: string[]): Promise<string> => {
  const target = join(client.folder, newUuid())
  await client.run('scp', [...client.options(role), ...mode, '-q', `${dock}@127.0.0.1:door`, target])
  const found = await stat(target).then(
    () => true,
    () => false,
  )
  await rm(target, { force: true })
  return found ? 'opened' : ''
}
/** Forwards a socket of this machine until a first connection, and returns what comes from its other end. */
const throughSocket = async (role: Role, dock: string): Promise<string> => {
  const path = join(client.folder, newUuid())
  const child = client.start('ssh', [
    ...[...client.options(role), '-L', `${path}:${join(fakeProcessFolder(), 'door.sock')}`],
    ...['-l', dock, '127.0.0.1', 'echo ready; exec sleep 300'],
  ])
  try {
    const [first] = await Promise.race([once(child.stdout, 'data'), once(child, 'close')])
    return Buffer.isBuffer(first) ? await text(connect(path)) : ''
  } finally {
    child.kill('SIGKILL')
  }
}

/** Returns something that is not empty if the way is open. */
type WayIn = (role: Role, dock: string) => Promise<string>
const waysIn: Record<string, WayIn> = {
  exec: async (...at) => (await ssh(...at, [], ['echo opened'])).stdout,
  shell: async (...at) => ((await ssh(...at, ['-tt'], [], 'exit 7\n')).code === 7 ? 'opened' : ''),
  'shell without a terminal': async (...at) => (await ssh(...at, ['-T'], [], 'echo opened\n')).stdout,
  sftp: async (role, dock) =>
    (
      await client.run('sftp', [...client.options(role), '-b', '-', `${dock}@127.0.0.1`], 'pwd\n')
    ).stdout.replace(/^sftp> pwd\n/, ''),
  scp: (...at) => copy(...at, []),
  'scp -O': (...at) => copy(...at, ['-O']),
  '-L': async (...at) => (await ssh(...at, ['-W', `localhost:${ports.dock}`], [])).stdout,
  '-D': async (...at) => (await ssh(...at, ['-W', `127.0.0.2:${ports.inside}`], [])).stdout,
  '-R': async (...at) =>
    (await ssh(...at, ['-o', 'ExitOnForwardFailure=yes', '-R', `127.0.0.1:0:localhost:1`], ['echo opened']))
      .stdout,
  '-A': async (role, dock) => {
    const command = `SSH_AUTH_SOCK=$PWD/agent exec ssh ${client.options(role).join(' ')} -A -l ${dock} 127.0.0.1`
    return (await client.run('bash', ['-c', `${command} '[ -z "$SSH_AUTH_SOCK" ] || echo opened'`])).stdout
  },
  'a Unix socket': throughSocket,
}

describe.each(Object.keys(waysIn))('%s', (name) => {
  it.each(['open', 'gated'] as const)(
    'of the Dock %s opens for those who may run commands there',
    async (kind) => {
      const opened = await Promise.all(
        roles.map(async (role) => [role, (await waysIn[name]!(role, docks[kind])).trim() !== ''] as const),
      )
      expect(Object.fromEntries(opened)).toEqual(
        Object.fromEntries(roles.map((role) => [role, mayEnter[kind].has(role)])),
      )
    },
  )
})

it('nothing but a key opens a way in', async () => {
  const noKey = [
    '-o',
    'PubkeyAuthentication=no',
    '-o',
    'PreferredAuthentications=password,keyboard-interactive,none',
  ]
  expect(await ssh('owner', docks.open, noKey, ['echo opened'])).toMatchObject({ code: 255, stdout: '' })
})
