/** Public keys are public: anybody can add the key of another person, and ask the gateway about it. */
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, type TestPerson } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { askAboutKeys } from './ask-about-keys.ts'
import type { SshClient } from './ssh-client.ts'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld
let client: SshClient
/** The owner of the key `key`, with the Dock `name`, and a stranger who has a Dock of the same name. */
let owner: Tenant
let stranger: Tenant
let name: string
let key: string

type Tenant = TestPerson & { organizationId: string; dockId: string; fullName: string }

beforeAll(async () => {
  world = await startSshWorld()
  client = world.client
})
afterAll(() => world?.stop())
beforeEach(async () => {
  name = `d${newUuid().slice(0, 8)}`
  owner = await addTenant(name)
  stranger = await addTenant(name)
  key = `key-${newUuid()}`
  await client.makeKey(key, '-t', 'ed25519')
})

const publicKey = async (file = key): Promise<string> =>
  (await readFile(join(client.folder, `${file}.pub`), 'utf8')).trim()
const call = async <T>(person: TestPerson, method: string, path: string, body?: object): Promise<T> => {
  const answer = await world.server.call(method, path, body, person.apiKey)
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body))
  return answer.body.data as T
}
const rename = (dockId: string, to: string) =>
  sql`update docks set name = ${to} where id = ${dockId}`.execute(world.server.database.db)

/** Adds a person with an organization of their own, and a Dock in it that writes its id. */
const addTenant = async (dockName: string): Promise<Tenant> => {
  const person = await addPerson(world.server)
  const slug = `org-${newUuid().slice(0, 8)}`
  const { id: organizationId } = await call<{ id: string }>(person, 'POST', '/v1/organizations', {
    ...{ name: slug, slug },
  })
  const [workspace] = await call<{ id: string; slug: string }[]>(
    ...([person, 'GET', `/v1/organizations/${organizationId}/workspaces`] as const),
  )
  const dockId = await world.server.addDock()
  await sql`update docks set name = ${dockName}, workspace_id = ${workspace!.id}, organization_id = ${organizationId}
    where id = ${dockId}`.execute(world.server.database.db)
  return { ...person, organizationId, dockId, fullName: `${dockName}.${workspace!.slug}.${slug}` }
}

const add = async (person: TestPerson, file = key): Promise<string> =>
  world.addKey(await publicKey(file), person.apiKey)
const prove = (person: TestPerson, keyId: string, file = key) => world.proveKey(keyId, file, person.apiKey)
/** Connects as OpenSSH does by default, so that what the gateway says is shown. */
const ssh = (user: string, ...files: string[]) =>
  client.run('ssh', [
    // The first value of an option counts.
    ...['-o', 'LogLevel=INFO', ...client.options(files[0] ?? key)],
    ...files.slice(1).flatMap((file) => ['-i', join(client.folder, file)]),
    ...['-l', user, '127.0.0.1', 'true'],
  ])
/** Returns which Dock the last program ran in. */
const lastDock = (): string | undefined => world.server.host.connections.processes.at(-1)?.dockId
const expectIn = async (dockId: string, user: string, ...files: string[]): Promise<void> => {
  expect(await ssh(user, ...files)).toMatchObject({ code: 0 })
  expect(lastDock()).toBe(dockId)
}
const expectRefused = async (said: RegExp, user: string, ...files: string[]): Promise<void> => {
  const before = world.server.host.connections.processes.length
  const ended = await ssh(user, ...files)
  expect(ended.code).toBe(255)
  expect(ended.stderr).toMatch(said)
  expect(world.server.host.connections.processes).toHaveLength(before)
}
const notProved = /dock: Nobody has proved yet that the key SHA256:\S+ is theirs, .* run: dock ssh-key prove/

describe('a key that a stranger has added', () => {
  it('does not lead its owner into the Dock of the stranger', async () => {
    await add(stranger)
    await expectRefused(notProved, name)
    const keyId = await add(owner)
    await expectRefused(notProved, name)
    await prove(owner, keyId)
    await expectIn(owner.dockId, name)
    await expectIn(owner.dockId, `${name}.${owner.fullName.split('.')[1]}`)
  })

  it('lets the client offer its next key, which leads to the Dock of its owner', async () => {
    await add(stranger)
    const own = `own-${key}`
    await client.makeKey(own, '-t', 'ed25519')
    await prove(owner, await add(owner, own), own)
    await expectIn(owner.dockId, name, key, own)
  })

  it('opens Docks of both by id and by full name', async () => {
    await add(stranger)
    await add(owner)
    for (const { dockId, fullName } of [owner, stranger])
      for (const user of [dockId, fullName]) await expectIn(dockId, user)
  })

  it('is not looked up by a full name that is also the short name of a Dock', async () => {
    // Names of Docks may have dots.
    await rename(owner.dockId, stranger.fullName)
    await add(stranger)
    const keyId = await add(owner)
    await expectRefused(notProved, stranger.fullName)
    await prove(owner, keyId)
    await expectIn(owner.dockId, stranger.fullName)
  })

  it('acts as the person who has proved it, where both reach a Dock', async () => {
    await sql`insert into memberships (organization_id, user_id, role)
      values (${owner.organizationId}, ${stranger.userId}, 'member')`.execute(world.server.database.db)
    const strangersKey = await add(stranger)
    const ownersKey = await add(owner)
    await prove(owner, ownersKey)
    await expectIn(owner.dockId, owner.dockId)
    const used = async (id: string) =>
      (
        await sql<{
          used: boolean
        }>`select last_used_at is not null as used from ssh_keys where id = ${id}`.execute(
          world.server.database.db,
        )
      ).rows[0]?.used
    await expect.poll(() => used(ownersKey)).toBe(true)
    expect(await used(strangersKey)).toBe(false)
  })

  it('does not hide the key of its owner, however many strangers have it', async () => {
    const line = await publicKey()
    const fingerprint = execFileSync('ssh-keygen', ['-lf', '-'], { input: line }).toString().split(' ')[1]
    const keyId = await add(owner)
    await sql`with crowd as (insert into users (id, name, email)
        select gen_random_uuid(), 'x', gen_random_uuid() || '@example.test' from generate_series(1, 300) returning id)
      insert into ssh_keys (id, user_id, name, public_key, fingerprint, created_at)
      select gen_random_uuid(), id, 'x', ${line}, ${fingerprint}, '2020-01-01' from crowd`.execute(
      world.server.database.db,
    )
    await prove(owner, keyId)
    for (const user of [name, owner.fullName, owner.dockId]) await expectIn(owner.dockId, user)
  })
})

it('a key that one person has proved opens Docks of others by id only: names of organizations change hands', async () => {
  const { fullName } = owner
  await prove(owner, await add(owner))
  await add(stranger)
  await expectIn(owner.dockId, fullName)
  const slug = fullName.split('.').at(-1)!
  await call(owner, 'PATCH', `/v1/organizations/${owner.organizationId}`, { slug: `${slug}-new` })
  await call(stranger, 'PATCH', `/v1/organizations/${stranger.organizationId}`, { slug })
  await expectRefused(/dock: One account has proved the key SHA256:\S+\. .* only by id/, fullName)
  await expectIn(owner.dockId, `${fullName}-new`)
  await expectIn(stranger.dockId, stranger.dockId)
})

it('a key that two people have proved opens Docks by id and full name only', async () => {
  await prove(stranger, await add(stranger))
  await expectIn(stranger.dockId, name)
  await prove(owner, await add(owner))
  await rename(stranger.dockId, 'else')
  for (const user of [name, 'else', 'no-dock'])
    await expectRefused(
      /dock: Several accounts have proved the key SHA256:\S+, so it opens a Dock only/,
      user,
    )
  for (const user of [owner.dockId, owner.fullName]) await expectIn(owner.dockId, user)
  await expectIn(stranger.dockId, stranger.dockId)
})

it('what the gateway says about a key that is not proved does not depend on Docks', async () => {
  await add(owner)
  const said = async (user: string): Promise<string> =>
    (await ssh(user)).stderr.replaceAll(/^.*(Permission denied|known hosts).*$/gm, '')
  expect(await said(name)).toBe(await said('no-such-dock'))
  expect(await said(name)).toMatch(notProved)
  const unknown = `unknown-${key}`
  await client.makeKey(unknown, '-t', 'ed25519')
  expect((await ssh(name, unknown)).stderr).not.toContain('dock:')
})

describe('a question about a key', () => {
  it('is answered alike, whosever the key is and whatever the name', async () => {
    const [other, unknown] = [`other-${key}`, `unknown-${key}`]
    const lines = await Promise.all([
      publicKey(),
      ...[other, unknown].map((file) => client.makeKey(file, '-t', 'ed25519')),
      client.makeKey(`rsa-${key}`, '-t', 'rsa', '-b', '2048'),
    ])
    await prove(owner, await add(owner))
    await add(stranger, other)
    for (const user of [name, owner.dockId, owner.fullName, stranger.dockId, 'no-such-dock'])
      expect(await askAboutKeys(world.port, user, lines)).toEqual(lines.map(() => true))
  })

  it('leaves the client all its keys', async () => {
    const files: string[] = []
    for (let n = 1; n < limits.ssh.loginAttemptsMax; n += 1) {
      files.push(`many-${n}-${key}`)
      await client.makeKey(files.at(-1)!, '-t', 'ed25519')
    }
    await prove(owner, await add(owner))
    await expectIn(owner.dockId, name, ...files, key)
  })
})
