/** What the audit log tells of people who enter a Dock by SSH. */
import { addPerson } from '@dock/testkit'
import { auditEntries } from '@dock/testkit/src/audit-entries.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type SshWorld, startSshWorld } from './ssh-world.ts'

let world: SshWorld
let dockId: string
beforeAll(async () => {
  world = await startSshWorld()
})
afterAll(() => world?.stop())
beforeEach(async () => {
  dockId = await world.server.addDock()
  await sql`delete from audit_entries`.execute(world.server.database.db)
})

const db = () => world.server.database.db
const ssh = (...args: string[]) => world.client.ssh(dockId, ...args)
const told = () => auditEntries(db(), world.server.admin.organizationId)

it('tells once that a person entered, by which key and from where', async () => {
  for (const word of ['one', 'two']) expect((await ssh('echo', word)).stdout).toBe(`${word}\n`)
  const { rows } = await sql<{
    id: string
    userId: string
  }>`select id, user_id as "userId" from ssh_keys`.execute(db())
  expect(await told()).toEqual([
    {
      ...{ action: 'dock.entered', outcome: 'succeeded', through: 'ssh_key', by: rows[0]!.userId },
      ...{ target: ['dock', dockId, expect.any(String)], details: { by: 'ssh' } },
    },
  ])
  const stored = await sql`select address, credential_id as "credentialId" from audit_entries`.execute(db())
  expect(stored.rows).toEqual([{ address: '127.0.0.1', credentialId: rows[0]!.id }])
})

it('tells nothing of a session that is refused', async () => {
  await world.server.call('POST', `/v1/docks/${dockId}/stop`, {})
  expect((await ssh('true')).code).not.toBe(0)
  const stranger = await addPerson(world.server)
  await world.addKey(await world.client.makeKey('stranger', '-t', 'ed25519'), stranger.apiKey)
  const refused = await world.client.run('ssh', [
    ...world.client.options('stranger'),
    ...['-l', dockId, '127.0.0.1', 'true'],
  ])
  expect(refused.code).toBe(255)
  expect((await told()).map(({ action }) => action)).toEqual(['dock.stopped'])
})

it('tells by which key and from where a shell resumed the Dock', async () => {
  await world.server.call('POST', `/v1/docks/${dockId}/stop`, {})
  await sql`delete from audit_entries`.execute(db())
  await world.client.run('ssh', [...world.client.options(), '-tt', '-l', dockId, '127.0.0.1'], 'exit\n')
  const { rows } = await sql`select action, through, address from audit_entries order by at, id`.execute(db())
  const from = { through: 'ssh_key', address: '127.0.0.1' }
  expect(rows).toEqual([
    { action: 'dock.resumed', ...from },
    { action: 'dock.entered', ...from },
  ])
})
