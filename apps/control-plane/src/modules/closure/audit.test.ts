/** What the audit log tells of closed and erased accounts, and what it no longer tells of who they were. */
import { type Recorded, recordedDuring } from '@dock/testkit'
import {
  type ClosureWorld,
  createClosureWorld,
  type Person,
} from '@dock/testkit/src/closure/closure-world.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { withTransaction } from '../../database/database.ts'
import { recordAudit, recordFailedSignIn } from '../audit/index.ts'
import { insertApiKey } from '../keys/index.ts'
import { graceMs } from './close-account.ts'
import { purgeAccounts } from './purge-accounts.ts'
import { reapplyErasures } from './reapply-erasures.ts'

const address = '203.0.113.7'

let world: ClosureWorld
let ada: Person
let shared: string
beforeEach(async () => {
  world = await createClosureWorld()
  ada = await world.addPerson('ada@example.test')
  shared = world.server.admin.organizationId
  await world.join(ada, shared, 'admin')
})
afterEach(() => world.server.stop())

const db = () => world.server.database.db
const during = (act: () => Promise<unknown>) => recordedDuring(world.server.database, act)
const post = (path: string, body?: object) => world.call(ada.session, 'POST', path, body)
const erase = () => post('/v1/account/erase', { confirmation: 'erase my account data' })
const byAda = (action: string): Partial<Recorded> =>
  ({
    ...{ action, actorId: ada.id, through: 'session', target: { type: 'person', id: ada.id, name: null } },
    ...{ details: {}, copies: [shared] },
  }) as Partial<Recorded>
/** What a reference to the closure module's dependencies needs here. */
const context = () => {
  const { controlPlane } = world.server
  const noop = (): void => undefined
  return {
    ...{ db: db(), clock: world.clock, sealer: controlPlane.sealer, wakeStops: noop, wakeRemoval: noop },
    logger: { warn: noop, error: noop } as never,
    forgetFiles: async () => undefined,
  }
}

/** Does and suffers what leaves Ada's id, name and addresses in the log. */
const leaveTraces = async (): Promise<string> => {
  const { organizationId, workspaceId } = await world.createOrganization(ada)
  await world.call(ada.session, 'PATCH', '/v1/me/profile', { displayName: 'Ada Lovelace' })
  await post('/v1/api-keys', { name: 'Lovelace’s key' })
  await post(`/v1/organizations/${organizationId}/workspaces`, { name: 'Lovelace' })
  await world.createDock(ada, workspaceId)
  await post(`/v1/organizations/${shared}/workspaces`, { name: 'Lab' })
  const role = { role: 'member' }
  await world.call(world.admin.session, 'PATCH', `/v1/organizations/${shared}/members/${ada.id}`, role)
  const grace = await world.addPerson('grace@example.test')
  await world.call(world.admin.session, 'POST', `/v1/organizations/${shared}/members`, {
    email: 'GRACE@example.test',
    ...role,
  })
  const { organizationId: other } = await world.createOrganization(grace)
  await world.call(grace.session, 'POST', `/v1/organizations/${other}/members`, {
    email: 'ADA@example.test',
    ...role,
  })
  const now = world.clock.now()
  await recordFailedSignIn(db(), { email: ada.email, address, now })
  const key = await insertApiKey(db(), { userId: ada.id, name: 'laptop', expiresAt: null, now })
  const machine = { kind: 'api_key', userId: ada.id, credentialId: key.row.id, address } as const
  await recordAudit(db(), machine, {
    ...{ action: 'account.signed_in', now, organizationId: 'own', target: { type: 'person', id: ada.id } },
    details: { method: 'device code', machine: 'lovelace-laptop' },
  })
  return organizationId
}
const log = async (): Promise<string> => {
  const { rows } = await sql<{ row: string }>`select lower(e::text) as row from audit_entries e`.execute(db())
  return rows.map(({ row }) => row).join('\n')
}
const traces = () => [ada.id, 'lovelace', 'ada@example.test', address]
const found = async (): Promise<string[]> => {
  const text = await log()
  return traces().filter((trace) => text.includes(trace))
}

it('tells that an account was closed and opened again, once each', async () => {
  expect(await during(() => post('/v1/account/close'))).toEqual([
    expect.objectContaining(byAda('account.closed')),
  ])
  const cookie = (await world.server.signIn(ada.email, 'a long password')).cookie
  ada = { ...ada, session: { ...ada.session, cookie } }
  expect(await during(() => post('/v1/account/close'))).toEqual([])
  expect(await during(() => post('/v1/account/reopen'))).toEqual([
    expect.objectContaining(byAda('account.reopened')),
  ])
  expect(await during(() => post('/v1/account/reopen'))).toEqual([])
})

it('no longer holds the id, the name and an address of a person who erased their account', async () => {
  const organizationId = await leaveTraces()
  expect(await found()).toEqual(traces())
  const before = (await log()).split('\n').length
  const entries = await during(async () => expect((await erase()).status).toBe(202))
  expect(await found()).toEqual([])
  expect((await log()).split('\n').length).toBeGreaterThan(before)

  const erased = entries.find(({ action }) => action === 'account.erased')!
  expect(erased).toMatchObject({
    through: 'session',
    address: null,
    credentialId: null,
    copies: [organizationId, shared].sort(),
  })
  expect(erased.target).toEqual({ type: 'person', id: erased.actorId, name: null })
  expect(entries.find(({ action }) => action === 'organization.deleted')).toMatchObject({
    organizationId,
    actorId: erased.actorId,
    target: { type: 'organization', id: organizationId, name: null },
  })
  // What they did to the things of others keeps its name, under their pseudonym.
  const path = `/v1/organizations/${shared}/audit?actorId=${erased.actorId}&action=workspace`
  const read = await world.call(world.admin.session, 'GET', path)
  expect(read.data).toMatchObject({
    entries: [
      { actor: { id: erased.actorId, name: null, email: null }, address: null, target: { name: 'Lab' } },
    ],
  })
})

it('refuses an erasure without writing of it', async () => {
  const { organizationId } = await world.createOrganization(ada)
  await world.join(await world.addPerson('bob@example.test'), organizationId, 'member')
  expect(await during(async () => expect((await erase()).code).toBe('sole_owner_of_shared_org'))).toEqual([])
  expect(await during(() => post('/v1/account/erase', {}))).toEqual([])
})

it('forgets a person whose time after closing is over, and tells who became owner in their place', async () => {
  const bob = await world.addPerson('bob@example.test')
  await leaveTraces()
  const made = await post('/v1/organizations', { name: 'Lasts' })
  const organizationId = (made.data as { id: string }).id
  await post('/v1/account/close')
  await world.join(bob, organizationId, 'member')
  world.clock.advance(graceMs + 1_000)
  const entries = await during(() => purgeAccounts(context()))
  expect(await found()).toEqual([])
  expect(entries.find(({ action }) => action === 'account.erased')).toMatchObject({
    actorId: null,
    through: 'platform',
  })
  expect(entries.find(({ action }) => action === 'member.role_changed')).toMatchObject({
    ...{ actorId: null, through: 'platform', organizationId, details: { from: 'member', to: 'owner' } },
    target: { type: 'person', id: bob.id },
  })
})

it('forgets a person again whom a restored database remembers', async () => {
  await leaveTraces()
  expect(await found()).toEqual(traces())
  await reapplyErasures(context(), [{ kind: 'person', id: ada.id }])
  expect(await found()).toEqual([])
  const again = () => reapplyErasures(context(), [{ kind: 'person', id: ada.id }])
  expect(await during(again)).toEqual([])
})

it('writes no entry in a transaction that is rolled back', async () => {
  const target = { type: 'person', id: ada.id }
  const entry = { action: 'account.closed', now: new Date(), organizationId: 'own', target } as const
  const rollBack = () =>
    withTransaction(db(), async (tx) => {
      await recordAudit(tx, { kind: 'operator' }, entry)
      throw new Error('undone')
    })
  expect(await during(() => expect(rollBack()).rejects.toThrow('undone'))).toEqual([])
})
