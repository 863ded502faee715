/** The entries that triggers write for operations on Docks, and where the address of a person must not stand. */
import { type AuditPage, auditPage } from '@dock/contract'
import { issueDockKey } from '@dock/control-plane/keys'
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  type ControlPlaneWithHost,
  startControlPlaneWithHost,
  type TestPerson,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { withTransaction } from '../../database/database.ts'
import type { RunRow } from '../runs/run-store.ts'
import { ownerOf } from '../runs/saga/machine-owner.ts'
import { findDock } from './core/dock-store.ts'
import { removeDocks } from './delete/remove-docks.ts'
import { wipeArchivedDocks } from './delete/wipe-archived.ts'
import { createDock, resumeDock } from './index.ts'
import { orderStops } from './stop/ordered-stop-store.ts'
import { createOrderedStops } from './stop/ordered-stops.ts'
import { beginStop, stopDueDocks } from './stop/stop-dock.ts'

/** The address of the person, as a proxy reports it. */
const address = '198.51.100.77'

let server: ControlPlaneWithHost
let url: string
let person: TestPerson
let organizationId: string
let workspaceId: string
beforeAll(async () => {
  server = await startControlPlaneWithHost({ environment: { DOCK_TRUSTED_PROXIES: '127.0.0.0/8' } })
  url = `http://127.0.0.1:${(await server.listen()).port}`
})
afterAll(() => server.stop())
beforeEach(async () => {
  person = await addPerson(server)
  const made = await server.call('POST', '/v1/organizations', { name: 'Audited', seats: 5 }, person.apiKey)
  organizationId = (made.body.data as { id: string }).id
  const { rows } = await sql<{
    id: string
  }>`select id from workspaces where organization_id = ${organizationId}`.execute(db())
  workspaceId = rows[0]!.id
})

type Headers = Record<string, string>
const send = async (method: string, path: string, body?: object, headers: Headers = {}) => {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      ...(headers.cookie ? {} : { authorization: `Bearer ${person.apiKey}` }),
      'x-forwarded-for': address,
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  const { code, data } = JSON.parse(text) as { code?: string; data?: unknown }
  return { outcome: code ?? 'succeeded', data: data as { id: string; name: string }, text }
}
const create = async (body: object = {}, headers: Headers = {}) =>
  (await send('POST', '/v1/docks', { workspaceId, ...body }, headers)).data
const stop = (id: string, body: object = {}) => send('POST', `/v1/docks/${id}/stop`, body)
const resume = (id: string) => send('POST', `/v1/docks/${id}/resume`, {})
const branch = (id: string, headers: Headers = {}) => send('POST', `/v1/docks/${id}/branch`, {}, headers)
const remove = (id: string) => send('DELETE', `/v1/docks/${id}`, undefined, { 'x-confirm-delete': id })

const context = () => server.controlPlane.docks.context
const db = () => server.database.db

/** Returns the entries about Docks, oldest first, as the organization's owner reads them. */
const entries = async (): Promise<AuditPage['entries']> => {
  const { data } = await send('GET', `/v1/organizations/${organizationId}/audit?action=dock&limit=100`)
  return auditPage.parse(data).entries.reverse()
}
const actions = async () => (await entries()).map(({ action }) => action)

describe('an operation on a Dock that a person began', () => {
  it('has one entry, with who, by what, from where and what', async () => {
    const dock = await create({ name: 'audited' })
    await stop(dock.id)
    await resume(dock.id)
    const copy = (await branch(dock.id)).data
    await stop(copy.id, { force: true })
    await remove(copy.id)
    const credentialId = expect.stringMatching(/^[0-9a-f-]{36}$/) as string
    const actor = { id: person.userId, name: 'Somebody', email: person.email }
    const entry = (action: string, { id, name }: { id: string; name: string }, details = {}) => ({
      id: expect.any(String) as string,
      at: expect.any(String) as string,
      ...{
        organizationId,
        organizationName: 'Audited',
        action,
        outcome: 'succeeded',
        actor,
        through: 'api_key',
        credentialId,
        address,
      },
      target: { type: 'dock', id, name },
      details,
    })
    expect(await entries()).toEqual([
      entry('dock.created', dock),
      entry('dock.stopped', dock),
      entry('dock.resumed', dock),
      entry('dock.branched', copy, { from: dock.id }),
      entry('dock.stopped', copy, { saved: false }),
      entry('dock.deleted', copy),
    ])
  })

  it('has one entry however often its key is repeated', async () => {
    const key = { 'idempotency-key': newUuid() }
    const made = await Promise.all([1, 2, 3].map(() => send('POST', '/v1/docks', { workspaceId }, key)))
    expect(made.some(({ outcome }) => outcome === 'succeeded')).toBe(true)
    const dock = await create({}, key)
    const again = { 'idempotency-key': newUuid() }
    for (let time = 0; time < 3; time++) await branch(dock.id, again)
    expect(await actions()).toEqual(['dock.created', 'dock.branched'])
  })

  it('has no entry if it is refused or there is nothing to do', async () => {
    const dock = await create({ name: 'taken' })
    expect((await send('POST', '/v1/docks', { workspaceId, name: 'taken' })).outcome).toBe('dock_name_taken')
    expect((await resume(dock.id)).outcome).toBe('conflict')
    expect((await send('DELETE', `/v1/docks/${dock.id}`)).outcome).toBe('confirm_required')
    await stop(dock.id)
    expect((await stop(dock.id)).outcome).toBe('succeeded')
    expect(await actions()).toEqual(['dock.created', 'dock.stopped'])
  })

  it('has an entry that turns to failed, with the code', async () => {
    server.host.failures.set('start', ['failed', 'failed', 'failed'])
    const failed = await send('POST', '/v1/docks', { workspaceId, name: 'fails' })
    server.host.failures.clear()
    const dock = await create({ name: 'stays' })
    server.host.failures.set('stop', ['failed'])
    const kept = await stop(dock.id)
    expect(await entries()).toMatchObject([
      {
        action: 'dock.created',
        outcome: 'failed',
        target: { name: 'fails' },
        details: { code: failed.outcome },
      },
      { action: 'dock.created', outcome: 'succeeded', target: { name: 'stays' }, details: {} },
      { action: 'dock.stopped', outcome: 'failed', details: { code: kept.outcome } },
    ])
    expect([failed.outcome, kept.outcome]).not.toContain('succeeded')
  })

  it('has an entry by a session', async () => {
    await send('POST', '/v1/docks', { workspaceId }, { cookie: person.cookie, origin: server.config.apiUrl })
    expect(await entries()).toMatchObject([{ action: 'dock.created', through: 'session' }])
  })

  it("has none by a Dock's own key, which may not begin one", async () => {
    const dock = await create()
    const holder = { dockId: dock.id, organizationId, userId: person.userId, now: new Date() }
    const authorization = `Bearer ${await issueDockKey(db(), holder)}`
    const stopped = await send('POST', `/v1/docks/${dock.id}/stop`, {}, { authorization })
    expect(stopped.outcome).toBe('dock_key_forbidden')
    expect(await actions()).toEqual(['dock.created'])
  })
})

describe('an operation on a Dock that no person began', () => {
  const row = async (id: string) => (await findDock(db(), organizationId, id))!
  const stateOf = async (id: string) => (await row(id))?.state ?? 'gone'
  const run = () => ({ id: newUuid(), createdBy: person.userId }) as RunRow

  it.each<[string, (id: string) => Promise<unknown>, string]>([
    [
      'its ttl',
      async (id) => {
        await sql`update docks set stop_at = now() - interval '1 s' where id = ${id}`.execute(db())
        await stopDueDocks(context())
      },
      'archived',
    ],
    [
      'the closure of an account',
      async (id) => {
        const stops = createOrderedStops(context())
        await withTransaction(db(), (tx) => orderStops(tx, person.userId, new Date()))
        await stops.run()
        return id
      },
      'archived',
    ],
    [
      'the end of a Run',
      async (id) => beginStop(context(), await row(id), { by: 'runs', through: 'timer', why: 'run ended' }),
      'archived',
    ],
    ['the end of its organization', () => removeDocks(context(), organizationId), 'gone'],
  ])('by %s has no entry', async (_, act, state) => {
    const { id } = await create()
    await act(id)
    await vi.waitFor(async () => expect(await stateOf(id)).toBe(state))
    expect(await actions()).toEqual(['dock.created'])
  })

  it('by zero data retention has no entry', async () => {
    const { id } = await create()
    await stop(id)
    await sql`update organizations set retention_enabled = true, retention_since = now() + interval '1 h'
      where id = ${organizationId}`.execute(db())
    await wipeArchivedDocks(context())
    expect(await stateOf(id)).toBe('gone')
    expect(await actions()).toEqual(['dock.created', 'dock.stopped'])
  })

  it('by a Run has no entry, though the Run acts in the name of a person', async () => {
    const defaults = { cpus: 1, memoryMiB: 512, diskGiB: 1, ttlSeconds: null, noEnv: false }
    const { id } = await createDock(
      context(),
      ownerOf(run(), 'createDock'),
      { workspaceId, ...defaults },
      `run\n${newUuid()}`,
    )
    await beginStop(context(), await row(id), { by: 'runs', through: 'timer', why: 'run ended' })
    await vi.waitFor(async () => expect(await stateOf(id)).toBe('archived'))
    await resumeDock(context(), ownerOf(run(), 'resumeDock'), id, { ttlSeconds: null })
    expect(await actions()).toEqual([])
    // The control: the same verb by a person is told.
    await stop(id)
    expect(await actions()).toEqual(['dock.stopped'])
  })
})

describe('an operation on a Snapshot or Template', () => {
  const told = async () => {
    const { data } = await send('GET', `/v1/organizations/${organizationId}/audit?limit=100`)
    const all = auditPage.parse(data).entries.reverse()
    return all.flatMap(({ action, outcome, target, details }) =>
      /^(snapshot|template)\./.test(action) ? [[action, outcome, target, details]] : [],
    )
  }

  it('has one entry, with its Dock', async () => {
    const dock = await create()
    const template = (await send('POST', '/v1/templates', { dockId: dock.id, name: 'base' })).data
    const removed = await send('DELETE', `/v1/templates/base?organizationId=${organizationId}`)
    expect(removed.outcome).toBe('succeeded')
    const { rows } = await sql<{ id: string }>`select id from snapshots where dock_id = ${dock.id}`.execute(
      db(),
    )
    const snapshot = rows[0]!.id
    const path = `/v1/snapshots/${snapshot}`
    expect((await send('DELETE', path)).outcome).toBe('confirm_required')
    await send('DELETE', path, undefined, { 'x-confirm-delete': snapshot })
    expect((await send('DELETE', path, undefined, { 'x-confirm-delete': snapshot })).outcome).not.toBe(
      'succeeded',
    )
    const ofTemplate = { type: 'template', id: template.id, name: 'base' }
    expect(await told()).toEqual([
      ['template.created', 'succeeded', ofTemplate, { dock: dock.id }],
      ['template.deleted', 'succeeded', ofTemplate, {}],
      ['snapshot.deleted', 'succeeded', { type: 'snapshot', id: snapshot, name: null }, { dock: dock.id }],
    ])
  })

  it('has an entry that turns to failed', async () => {
    const dock = await create()
    server.host.failures.set('capture', ['failed'])
    const { outcome } = await send('POST', '/v1/templates', { dockId: dock.id, name: 'never' })
    expect(outcome).not.toBe('succeeded')
    expect(await told()).toMatchObject([
      ['template.created', 'failed', { name: 'never' }, { dock: dock.id, code: expect.any(String) }],
    ])
  })
})

describe('the address of a person', () => {
  it('stands in the audit log alone', async () => {
    const hook = {
      organizationId,
      name: 'hook',
      url: 'https://hooks.example.com/dock',
      events: ['dock.ready'],
    }
    await send('POST', '/v1/webhooks/endpoints', hook, {
      cookie: person.cookie,
      origin: server.config.apiUrl,
    })
    const dock = await create()
    await vi.waitFor(() => expect(server.receivers.received.length).toBeGreaterThan(0), { timeout: 30_000 })
    for (const { body } of server.receivers.received) expect(body).not.toContain(address)
    await send('POST', `/v1/docks/${dock.id}/terminal`)
    await stop(dock.id)
    await resume(dock.id)
    const copy = (await branch(dock.id)).data
    const { operation } = (await remove(copy.id)).data as unknown as { operation: { id: string } }
    const { rows: tables } = await sql<{
      name: string
    }>`select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(db())
    const holders: string[] = []
    for (const { name } of tables) {
      const found =
        await sql`select 1 from ${sql.table(name)} t where t::text like ${`%${address}%`} limit 1`.execute(
          db(),
        )
      if (found.rows.length > 0) holders.push(name)
    }
    expect(holders).toEqual(['audit_entries'])
    const query = `?organizationId=${organizationId}`
    for (const path of [
      `/v1/docks/${dock.id}`,
      `/v1/docks${query}`,
      `/api/dashboard/docks/${dock.id}/timeline`,
      `/v1/docks/${dock.id}/last-stop`,
      `/v1/operations/${operation.id}`,
      '/v1/notifications',
    ]) {
      const { outcome, text } = await send('GET', path, undefined, { cookie: person.cookie })
      expect([path, outcome]).toEqual([path, 'succeeded'])
      expect(text).not.toContain(address)
    }
    const { text } = await send('GET', `/v1/organizations/${organizationId}/audit`)
    expect(text).toContain(address)
  })
})
