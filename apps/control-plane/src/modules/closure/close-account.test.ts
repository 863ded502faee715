import { routes } from '@dock/contract'
import {
  type ClosureWorld,
  createClosureWorld,
  type Person,
} from '@dock/testkit/src/closure/closure-world.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

let world: ClosureWorld
let ada: Person
beforeEach(async () => {
  world = await createClosureWorld()
  ada = await world.addPerson('ada@example.test')
})
afterEach(() => world.server.stop())

const password = 'a long password'
const close = (person = ada) => world.call(person.session, 'POST', '/v1/account/close')
const me = (session = ada.session) => world.call(session, 'GET', '/v1/me')
const patience = { timeout: 60_000, interval: 250 }
/** Advances the clock by `ms` before each attempt, since a timer that was busy schedules its next run later. */
const turning = (ms: number, look: () => Promise<void>): Promise<void> =>
  vi.waitFor(() => {
    if (ms > 0) world.clock.advance(ms)
    return look()
  }, patience)
const eventually = (dockId: string, state: string, ms = 0) =>
  turning(ms, async () => expect(await world.stateOf(dockId)).toBe(state))
const orders = () => world.server.database.db.selectFrom('ordered_stops').selectAll().execute()
/** Lets another operation hold the Dock until `release` is called. */
const hold = async (dockId: string): Promise<void> => {
  await sql`insert into operations (id, organization_id, kind, target_type, target_id, dock_id, generation, status,
      data, cause, created_at, updated_at)
    select ${dockId}, organization_id, 'held', 'dock', id, id, generation, 'blocked', '{}', '{}', now(), now()
    from docks where id = ${dockId}`.execute(world.server.database.db)
}
const release = (dockId: string) =>
  world.server.database.db.deleteFrom('operations').where('id', '=', dockId).execute()

describe('closing', () => {
  it('ends keys and sessions at once and returns when the data will be erased', async () => {
    const made = await world.call(ada.session, 'POST', '/v1/api-keys', { name: 'k' })
    const { apiKey } = made.data as { apiKey: string }
    expect((await world.server.call('GET', '/v1/me', undefined, apiKey)).status).toBe(200)
    const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a@b'
    const added = await world.call(ada.session, 'POST', '/v1/ssh-keys', { name: 'laptop', publicKey })
    expect(added.status).toBe(201)
    const byKey = await world.server.call('POST', '/v1/account/close', undefined, apiKey)
    expect([byKey.status, byKey.body.code]).toEqual([403, 'session_required'])

    const closed = await close()
    expect([closed.status, closed.headers.get('cache-control')]).toEqual([202, 'no-store'])
    expect(routes.closeAccount.response.parse(closed.data)).toEqual({
      closed: true,
      purgeAt: new Date(world.clock.now().getTime() + 30 * 86_400_000).toISOString(),
    })
    expect((await world.server.call('GET', '/v1/me', undefined, apiKey)).status).toBe(401)
    expect((await me()).status).toBe(401)
    expect(await world.server.database.db.selectFrom('ssh_keys').select('id').execute()).toEqual([])
  })

  it('lets the person sign in again only to reopen or erase the account', async () => {
    await close()
    const session = await world.server.signIn(ada.email, password)
    for (const [method, path] of [
      ['GET', '/v1/me'],
      ['GET', '/v1/docks'],
      ['POST', '/v1/api-keys'],
      ['POST', '/v1/account/close'],
    ] as const) {
      const answer = await world.call(session, method, path)
      expect([path, answer.status, answer.code]).toEqual([path, 403, 'account_closed'])
    }
    expect((await world.call(session, 'POST', '/v1/account/reopen')).data).toEqual({ reopened: true })
    expect((await world.call(session, 'POST', '/v1/account/reopen')).data).toEqual({ reopened: false })
    expect((await me(session)).status).toBe(200)
  })

  it('leaves no shared organization without an owner whose account is open', async () => {
    const { organizationId } = await world.createOrganization(ada)
    const bob = await world.addPerson('bob@example.test')
    await world.join(bob, organizationId, 'admin')
    const erase = { confirmation: 'erase my account data' }
    for (const [path, body] of [
      ['/v1/account/close', undefined],
      ['/v1/account/erase', erase],
    ] as const) {
      const refused = await world.call(ada.session, 'POST', path, body)
      expect([refused.status, refused.code]).toEqual([409, 'sole_owner_of_shared_org'])
    }
    const { db } = world.server.database
    await db.updateTable('memberships').set({ role: 'owner' }).where('user_id', '=', bob.id).execute()
    // Both owners close at once. One must stay, and the closed account does not count as an owner.
    const answers = await Promise.all([close(ada), close(bob)])
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409])
    const left = answers[0]?.status === 202 ? bob : ada
    const path = `/v1/organizations/${organizationId}/members/${left.id}`
    const leaving = await world.call(left.session, 'DELETE', path)
    expect([leaving.status, leaving.code]).toEqual([400, 'cannot_remove_owner'])
  })
})

describe('running Docks', () => {
  it('of the caller, and all in organizations without other members, are stopped with a Snapshot', async () => {
    const shared = {
      organizationId: world.server.admin.organizationId,
      workspaceId: world.server.admin.workspaceId,
    }
    await world.join(ada, shared.organizationId, 'member')
    const own = await world.createOrganization(ada)
    await world.join(world.admin, own.organizationId, 'owner')
    const [madeShared, others, madeAlone, leftAlone] = [
      await world.createDock(ada, shared.workspaceId),
      await world.createDock(world.admin, shared.workspaceId),
      await world.createDock(ada, own.workspaceId),
      await world.createDock(world.admin, own.workspaceId),
    ]
    await world.call(
      ada.session,
      'DELETE',
      `/v1/organizations/${own.organizationId}/members/${world.admin.id}`,
    )
    expect((await close()).status).toBe(202)
    for (const id of [madeShared, madeAlone, leftAlone]) await eventually(id, 'archived')
    expect(await world.stateOf(others)).toBe('ready')
    expect(world.host.captures.size).toBe(3)
    const change = await world.server.database.db
      .selectFrom('dock_state_changes')
      .select('cause')
      .where('dock_id', '=', leftAlone)
      .where('to_state', '=', 'archiving')
      .executeTakeFirstOrThrow()
    expect(change.cause).toMatchObject({ by: `user:${ada.id}`, why: 'stop' })
    await turning(61_000, async () => expect(await orders()).toEqual([]))
  })

  it('that are busy are stopped once they are free, and a stop whose capture fails is retried', async () => {
    const { workspaceId } = await world.createOrganization(ada)
    const [busy, refused] = [
      await world.createDock(ada, workspaceId),
      await world.createDock(ada, workspaceId),
    ]
    world.host.failures.set('stop', ['failed'])
    await hold(busy)
    await close()
    await turning(0, async () => {
      const row = (await orders()).find((each) => each.dock_id === refused)
      expect([row?.attempts, await world.stateOf(refused)]).toEqual([1, 'ready'])
    })
    expect(await world.stateOf(busy)).toBe('ready')
    await release(busy)
    await eventually(busy, 'archived', 5_000)
    await eventually(refused, 'archived', 60_000)
    expect(
      world.host.calls.filter(({ method, dockId }) => method === 'stop' && dockId === refused),
    ).toHaveLength(2)
  })

  it('that another member booted again, or whose owner reopened the account, keep running', async () => {
    const { organizationId, workspaceId } = await world.createOrganization(ada)
    await world.join(world.admin, organizationId, 'owner')
    const [rebooted, back] = [
      await world.createDock(ada, workspaceId),
      await world.createDock(ada, workspaceId),
    ]
    for (const dockId of [rebooted, back]) await hold(dockId)
    await close()
    const taken = new Date(world.clock.now().getTime() + 5_000)
    await turning(0, async () =>
      expect((await orders()).map((row) => row.next_attempt_at)).toEqual([taken, taken]),
    )
    const { db } = world.server.database
    await db.updateTable('docks').set({ generation: 2 }).where('id', '=', rebooted).execute()
    await release(rebooted)
    await turning(5_000, async () => expect((await orders()).map((row) => row.dock_id)).toEqual([back]))
    expect(await world.stateOf(rebooted)).toBe('ready')

    const session = await world.server.signIn(ada.email, password)
    await world.call(session, 'POST', '/v1/account/reopen')
    expect(await orders()).toEqual([])
    expect(await world.stateOf(back)).toBe('ready')
  })

  it('that were being created while the account closed are stopped too', async () => {
    const { workspaceId } = await world.createOrganization(ada)
    const old = await world.createDock(ada, workspaceId)
    world.clock.advance(3_600_000)
    await close()
    // The Dock may be turning idle at this moment. Its stop is then ordered, and carried out later.
    await eventually(old, 'archived', 5_000)
    // Simulate a row that was inserted just after the account closed.
    const { db } = world.server.database
    const late = await db
      .updateTable('docks')
      .set({ state: 'ready', created_at: world.clock.now() })
      .where('id', '=', old)
      .returning('id')
      .execute()
    expect(late).toHaveLength(1)
    await db.deleteFrom('ordered_stops').execute()
    // The order may be carried out, and gone, before this looks.
    await turning(5_000, async () => {
      const isOrdered = (await orders()).some((row) => row.dock_id === old)
      expect(isOrdered || (await world.stateOf(old)) === 'archived').toBe(true)
    })
  })
})
