import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { limits } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, type TestPerson } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { SshClient } from './ssh-client.ts'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld
let client: SshClient
let dockId: string
const logged: string[] = []

beforeAll(async () => {
  world = await startSshWorld({ logTo: (line) => logged.push(line) })
  client = world.client
})
afterAll(() => world?.stop())
beforeEach(async () => {
  dockId = await world.server.addDock()
})

const nameOf = async (id = dockId): Promise<{ name: string; workspace: string; organization: string }> =>
  (
    await sql<{ name: string; workspace: string; organization: string }>`
      select d.name, w.slug as workspace, o.slug as organization from docks d
      join workspaces w on w.id = d.workspace_id join organizations o on o.id = d.organization_id
      where d.id = ${id}`.execute(world.server.database.db)
  ).rows[0]!
const refused = { code: 255, stdout: '' }

/** Adds a person with a key in the file `name` and returns the key's id. */
const addKeyHolder = async (
  name: string,
  role?: 'member' | 'admin',
): Promise<TestPerson & { keyId: string }> => {
  const person = await addPerson(world.server, role ? { role } : {})
  const keyId = await world.addKey(await client.makeKey(name, '-t', 'ed25519'), person.apiKey)
  return { ...person, keyId }
}
const sshAs = (key: string, user: string, ...args: string[]) =>
  client.run('ssh', [...client.options(key), '-l', user, '127.0.0.1', ...args])

describe('a user name', () => {
  it('is the id, the name, or the name with its workspace and organization', async () => {
    const { name, workspace, organization } = await nameOf()
    const names = [
      dockId,
      dockId.toUpperCase(),
      name,
      `${name}.${workspace}`,
      `${name}.${workspace}.${organization}`,
    ]
    for (const user of names)
      expect(await client.ssh(user, 'echo here')).toMatchObject({ code: 0, stdout: 'here\n' })
  })

  it('that several Docks have is answered with their full names', async () => {
    const { name, organization } = await nameOf()
    const slug = `other-${newUuid().slice(0, 8)}`
    const created = await world.server.call(
      'POST',
      `/v1/organizations/${world.server.admin.organizationId}/workspaces`,
      {
        name: 'Other',
        slug,
      },
    )
    expect(created.status).toBe(201)
    const other = await world.server.addDock()
    const { id } = created.body.data as { id: string }
    await sql`update docks set name = ${name}, workspace_id = ${id} where id = ${other}`.execute(
      world.server.database.db,
    )
    const ended = await client.ssh(name, 'true')
    expect(ended.code).toBe(1)
    expect(ended.stderr).toMatch(/^dock: You can reach several Docks called .*\n$/)
    expect(ended.stderr).toContain(`${name}.${slug}.${organization}`)
    expect(await client.ssh(`${name}.${slug}`, 'echo other')).toMatchObject({ code: 0, stdout: 'other\n' })
  })
})

it('a full name is found, however many Docks of colleagues are called like it', async () => {
  const { name, workspace, organization } = await nameOf()
  const fullName = `${name}.${workspace}.${organization}`
  // Names of Docks may have dots. These are older than the Dock that is meant, and stopped, so that nobody recovers them.
  await sql`with others as (insert into workspaces (id, organization_id, name, slug)
      select gen_random_uuid(), organization_id, 'w', 'w-' || gen_random_uuid() from docks, generate_series(1, 30)
      where id = ${dockId} returning id)
    insert into docks select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(),
      'name', ${fullName}::text, 'workspace_id', others.id, 'created_at', '2020-01-01'::timestamptz,
      'state', 'archived', 'host_id', null, 'placed', false, 'has_disk', false, 'ip', null))).*
    from docks d, others where d.id = ${dockId}`.execute(world.server.database.db)
  expect(await client.ssh(fullName, 'echo here')).toMatchObject({ code: 0, stdout: 'here\n' })
  expect(world.server.host.connections.processes.at(-1)?.dockId).toBe(dockId)
})

describe('a key', () => {
  it.each([
    ['rsa', '-t', 'rsa', '-b', '2048'],
    ['ecdsa', '-t', 'ecdsa'],
  ])('of type %s signs in, and its last use is recorded', async (name, ...options) => {
    const keyId = await world.addKey(await client.makeKey(name, ...options))
    expect(await sshAs(name, dockId, 'echo in')).toMatchObject({ code: 0, stdout: 'in\n' })
    await expect
      .poll(async () => {
        const answer = await world.server.call('GET', '/v1/ssh-keys')
        return (answer.body.data as { id: string; lastUsedAt: string | null }[]).find(
          ({ id }) => id === keyId,
        )?.lastUsedAt
      })
      .toEqual(expect.any(String))
  })

  it('that nobody has added is refused, and so is the key of a person who cannot reach the Dock', async () => {
    await client.makeKey('unknown', '-t', 'ed25519')
    await addKeyHolder('stranger')
    expect(await sshAs('unknown', dockId, 'true')).toMatchObject(refused)
    expect(await sshAs('stranger', dockId, 'true')).toMatchObject(refused)
    expect(await sshAs('id', 'no-such-dock', 'true')).toMatchObject(refused)
  })

  it('that is refused lets the client try its next key', async () => {
    await addKeyHolder('first')
    const ended = await client.run('ssh', [
      ...[...client.options('first'), '-i', 'id', '-l', dockId, '127.0.0.1', 'echo second'],
    ])
    expect(ended).toMatchObject({ code: 0, stdout: 'second\n' })
  })

  it('of a member is refused where only admins may see the secrets', async () => {
    await addKeyHolder('barred', 'member')
    expect(await sshAs('barred', dockId, 'echo in')).toMatchObject({ code: 0 })
    await sql`update docks set marks = array[${newUuid()}::uuid] where id = ${dockId}`.execute(
      world.server.database.db,
    )
    expect(await sshAs('barred', dockId, 'echo in')).toMatchObject(refused)
    expect(await sshAs('id', dockId, 'echo in')).toMatchObject({ code: 0 })
  })

  it('that has expired is refused', async () => {
    const { keyId } = await addKeyHolder('expired', 'admin')
    expect(await sshAs('expired', dockId, 'echo in')).toMatchObject({ code: 0 })
    await sql`update ssh_keys set expires_at = now() where id = ${keyId}`.execute(world.server.database.db)
    expect(await sshAs('expired', dockId, 'true')).toMatchObject(refused)
  })

  it('of a closed account is refused', async () => {
    const { userId } = await addKeyHolder('closed', 'admin')
    await sql`update users set closed_at = now() where id = ${userId}`.execute(world.server.database.db)
    expect(await sshAs('closed', dockId, 'true')).toMatchObject(refused)
  })
})

describe('an open session', () => {
  type Loss = (holder: TestPerson & { keyId: string }) => Promise<unknown>
  const losses: [string, Loss][] = [
    [
      'the key is deleted',
      ({ keyId, apiKey }) => world.server.call('DELETE', `/v1/ssh-keys/${keyId}`, undefined, apiKey),
    ],
    [
      'the key expires',
      ({ keyId }) =>
        sql`update ssh_keys set expires_at = now() where id = ${keyId}`.execute(world.server.database.db),
    ],
    [
      'the membership ends',
      ({ userId }) =>
        sql`delete from memberships where user_id = ${userId}`.execute(world.server.database.db),
    ],
    [
      'the account closes',
      ({ userId }) =>
        sql`update users set closed_at = now() where id = ${userId}`.execute(world.server.database.db),
    ],
    [
      'an admin becomes a member who may not see the secrets',
      async ({ userId }) => {
        await sql`update docks set marks = array[${newUuid()}::uuid] where id = ${dockId}`.execute(
          world.server.database.db,
        )
        await sql`update memberships set role = 'member' where user_id = ${userId}`.execute(
          world.server.database.db,
        )
      },
    ],
  ]
  it.each(losses)('ends within five seconds when %s', async (what, lose) => {
    const file = `holder-${what.replaceAll(' ', '-')}`
    const holder = await addKeyHolder(file, 'admin')
    const child = client.start('ssh', [
      ...client.options(file),
      '-l',
      dockId,
      '127.0.0.1',
      'echo ready; exec sleep 300',
    ])
    let stderr = ''
    child.stderr.on('data', (text: Buffer) => {
      stderr += text
    })
    await once(child.stdout, 'data')
    const closed = once(child, 'close')
    const lostAt = Date.now()
    await lose(holder)
    await closed
    expect(Date.now() - lostAt).toBeLessThan(5_000)
    expect(stderr).toContain('You have lost access to this Dock.')
  })
})

describe('a stranger', () => {
  const open = async (): Promise<Socket> => {
    const socket = createConnection(world.port, '127.0.0.1')
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }

  it('who sends rubbish is disconnected, again and again, without an error in the log', async () => {
    for (const rubbish of [
      'GET / HTTP/1.1\r\n\r\n',
      `SSH-2.0-x\r\n${'\xff'.repeat(5_000)}`,
      'SSH-1.0-old\r\n',
      '\0'.repeat(100_000),
    ]) {
      const socket = await open()
      socket.resume().write(rubbish, 'latin1')
      await once(socket, 'close')
    }
    expect(logged.filter((line) => /"level":[56]0/.test(line))).toEqual([])
  })

  it('may have only so many connections that are not signed in', async () => {
    const sockets = await Promise.all(Array.from({ length: limits.ssh.unauthenticatedPerAddressMax }, open))
    const more = await open()
    more.resume()
    await once(more, 'close')
    for (const socket of sockets) socket.destroy()
    await expect.poll(async () => (await client.ssh(dockId, 'true')).code).toBe(0)
  })
})

it('logs no key and nothing that a session carries', async () => {
  await client.run('ssh', [...client.options(), '-l', dockId, '127.0.0.1', 'cat'], 'a-secret-word')
  await client.ssh(dockId, '-o', 'SetEnv=WORD=another-secret-word', 'echo $WORD')
  expect(logged.join('\n')).not.toMatch(/secret-word|BEGIN OPENSSH/)
})
