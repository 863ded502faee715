import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLogger, newUuid } from '@dock/foundation'
import {
  type ClosureWorld,
  createClosureWorld,
  type Person,
} from '@dock/testkit/src/closure/closure-world.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createFileTransport } from '../../mail/index.ts'
import { purgeAccounts } from './purge-accounts.ts'

let world: ClosureWorld
let ada: Person
beforeEach(async () => {
  world = await createClosureWorld()
  ada = await world.addPerson('ada@example.test')
})
afterEach(() => world.server.stop())

const confirmation = 'erase my account data'
const erase = (body: object = { confirmation }) => world.call(ada.session, 'POST', '/v1/account/erase', body)

/** Returns every row of every table as text, so that columns that this test does not know are included. */
const everything = async (): Promise<string> => {
  const { db } = world.server.database
  const tables = await sql<{ name: string }>`select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(db)
  const texts: string[] = []
  for (const { name } of tables.rows) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(db)
    texts.push(...rows.map(({ row }) => `${name} ${row}`))
  }
  return texts.join('\n')
}

/** Creates data of Ada in every table that keeps personal data. */
const leaveTraces = async (): Promise<{ dockId: string; organizationId: string }> => {
  const { db } = world.server.database
  const { organizationId, workspaceId } = await world.createOrganization(ada)
  const dockId = await world.createDock(ada, workspaceId)
  await world.join(ada, world.server.admin.organizationId, 'member')
  await world.call(ada.session, 'PATCH', '/v1/me/profile', { displayName: 'Ada Lovelace', bio: 'Countess' })
  await world.call(ada.session, 'POST', '/v1/api-keys', { name: 'Ada Lovelace’s key' })
  const own = { user_id: ada.id }
  await db
    .updateTable('sessions')
    .set({ ip_address: '203.0.113.7', user_agent: 'Lovelace/1' })
    .where('user_id', '=', ada.id)
    .execute()
  await db
    .insertInto('login_accounts')
    .values({ ...own, provider_id: 'github', account_id: 'lovelace' })
    .execute()
  await db
    .insertInto('verifications')
    .values([
      { identifier: 'x', value: ada.id, expires_at: new Date('2100-01-01') },
      {
        identifier: 'y',
        value: JSON.stringify({ link: { email: 'Ada@example.test' } }),
        expires_at: new Date('2100-01-01'),
      },
    ])
    .execute()
  await db
    .insertInto('notifications')
    .values({
      ...own,
      organization_id: world.server.admin.organizationId,
      event_id: newUuid(),
      type: 'disk_full',
      title: 'Lovelace',
      body: 'Lovelace',
      dock_id: dockId,
      occurred_at: new Date(),
    })
    .execute()
  await db
    .insertInto('ssh_keys')
    .values({
      ...own,
      id: newUuid(),
      name: 'Lovelace',
      public_key: 'p',
      fingerprint: 'f',
      created_at: new Date(),
    })
    .execute()
  await db
    .insertInto('personal_alert_settings')
    .values({ ...own, type: 'disk_full', email_enabled: true })
    .execute()
  await sql`insert into data_keys (id, owner_kind, owner_id, ring_key_id, wrapped, created_at)
    values (${newUuid()}, 'person', ${ada.id}, 'r', 'w', now())`
    .execute(db)
    .catch(() => undefined)
  const invited = await world.server.call(
    'POST',
    `/v1/organizations/${world.server.admin.organizationId}/members`,
    {
      email: 'ADA@example.test',
    },
  )
  expect(invited.status).toBe(201)
  return { dockId, organizationId }
}

it('requires the exact phrase and a session', async () => {
  for (const body of [{}, { confirmation: 'erase' }, { confirmation: `${confirmation} ` }]) {
    const refused = await erase(body)
    expect([refused.status, refused.code]).toEqual([400, 'confirm_required'])
  }
  const byKey = await world.server.call('POST', '/v1/account/erase', { confirmation })
  expect([byKey.status, byKey.body.code]).toEqual([403, 'session_required'])
})

it('leaves no data of the person in tables and mails, and deletes organizations without other members', async () => {
  const { dockId, organizationId } = await leaveTraces()
  const { db } = world.server.database
  const folder = join(world.server.config.controlDir, 'outbox')
  const { id } = await db
    .insertInto('outbox_mails')
    .values({ recipient: 'Ada@example.test', subject: 'Lovelace', body: '', sent_at: new Date() })
    .returning('id')
    .executeTakeFirstOrThrow()
  // Sent to an address that was theirs before.
  await db
    .insertInto('outbox_mails')
    .values({ recipient: 'countess@old.test', subject: 'S', body: '', status: 'sent', user_id: ada.id })
    .execute()
  const transport = createFileTransport(folder, { name: 'Dock', address: 'dock@example.test' })
  await transport.send({ id, recipient: ada.email, subject: 'Lovelace', text: 'Lovelace', html: '' })
  await transport.send({
    id: newUuid(),
    recipient: 'bob@example.test',
    subject: 'S',
    text: 'For Bob',
    html: '',
  })
  for (const trace of ['lovelace', 'ada@example.test', '203.0.113.7', 'countess'])
    expect([trace, (await everything()).toLowerCase().includes(trace)]).toEqual([trace, true])

  const answer = await erase()
  expect([answer.status, answer.data]).toEqual([202, { erased: true }])
  await vi.waitFor(
    async () => {
      world.clock.advance(5_000)
      expect(
        await db.selectFrom('organizations').select('id').where('id', '=', organizationId).execute(),
      ).toEqual([])
    },
    { timeout: 60_000 },
  )
  expect(await world.stateOf(dockId)).toBeUndefined()
  expect([...world.host.sandboxes.keys()]).not.toContain(dockId)

  const left = (await everything()).toLowerCase()
  for (const trace of ['lovelace', 'ada@example.test', '203.0.113.7', 'countess'])
    expect(left.split('\n').filter((row) => row.includes(trace))).toEqual([])
  expect(await db.selectFrom('data_keys').selectAll().where('owner_id', '=', ada.id).execute()).toEqual([])
  const mails = await readdir(folder)
  expect(mails).toHaveLength(1)
  expect(await readFile(join(folder, mails[0]!), 'utf8')).toContain('For Bob')
})

it('deletes admin.json only together with the first person', async () => {
  const path = join(world.server.config.controlDir, 'admin.json')
  await erase()
  expect(await readFile(path, 'utf8')).toContain(world.admin.email)
  const answer = await world.call(world.admin.session, 'POST', '/v1/account/erase', { confirmation })
  expect(answer.status).toBe(202)
  await expect(readFile(path)).rejects.toThrow('ENOENT')
})

it('makes the requesting session receive 410 until it ends, and frees the address at once', async () => {
  await erase()
  for (const [method, path, body] of [
    ['GET', '/v1/me', undefined],
    ['POST', '/v1/account/reopen', undefined],
    ['POST', '/v1/account/close', undefined],
    ['POST', '/v1/account/erase', { confirmation }],
  ] as const) {
    const answer = await world.call(ada.session, method, path, body)
    expect([path, answer.status, answer.code]).toEqual([path, 410, 'account_closed'])
  }
  await expect(world.server.signIn(ada.email, 'a long password')).rejects.toThrow('401')
  const again = await world.addPerson('ada@example.test')
  expect(again.id).not.toBe(ada.id)

  const { db } = world.server.database
  const rows = () => db.selectFrom('users').select('id').where('id', '=', ada.id).execute()
  world.clock.advance(61_000)
  await db
    .updateTable('sessions')
    .set({ expires_at: world.clock.now() })
    .where('user_id', '=', ada.id)
    .execute()
  expect((await world.call(ada.session, 'GET', '/v1/me')).status).toBe(401)
  await vi.waitFor(
    async () => {
      world.clock.advance(61_000)
      expect(await rows()).toEqual([])
    },
    { timeout: 60_000 },
  )
})

it('runs 30 days after closing, not earlier, and gives shared organizations a new owner', async () => {
  const { organizationId } = await world.createOrganization(ada)
  const [bob, carol] = [
    await world.addPerson('bob@example.test'),
    await world.addPerson('carol@example.test'),
  ]
  await world.join(bob, organizationId, 'owner')
  expect((await world.call(ada.session, 'POST', '/v1/account/close')).status).toBe(202)
  const { db } = world.server.database
  // The other owner is no longer one, without a check for a sole owner.
  await db.deleteFrom('memberships').where('user_id', '=', bob.id).execute()
  await world.join(bob, organizationId, 'member')
  await world.join(carol, organizationId, 'admin')

  const day = 86_400_000
  const round = () =>
    purgeAccounts({
      db,
      clock: world.clock,
      logger: createLogger('test'),
      sealer: world.server.controlPlane.sealer,
      wakeStops: () => undefined,
      wakeRemoval: () => undefined,
      forgetFiles: async () => undefined,
    })
  world.clock.advance(30 * day - 1)
  await round()
  expect(await db.selectFrom('users').select('id').where('id', '=', ada.id).execute()).toHaveLength(1)
  world.clock.advance(1)
  await vi.waitFor(
    async () => {
      world.clock.advance(60_000)
      expect(await db.selectFrom('users').select('id').where('id', '=', ada.id).execute()).toEqual([])
    },
    { timeout: 60_000 },
  )
  const members = await db
    .selectFrom('memberships')
    .select(['user_id', 'role'])
    .where('organization_id', '=', organizationId)
    .orderBy('role')
    .execute()
  expect(members).toEqual([
    { user_id: bob.id, role: 'member' },
    { user_id: carol.id, role: 'owner' },
  ])
})
