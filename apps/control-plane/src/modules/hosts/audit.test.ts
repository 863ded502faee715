/** What the audit log of the instance tells of hosts and the quarantine. */
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  type ControlPlaneWithHost,
  startControlPlaneWithHost,
  type TestPerson,
} from '@dock/testkit'
import { auditEntries, auditTells } from '@dock/testkit/src/audit-entries.ts'
import { hostFacts } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { adoptQuarantined, declareLost } from '../docks/index.ts'
import { deleteQuarantined } from './index.ts'

const operator = { kind: 'operator' } as const

let server: ControlPlaneWithHost
let admin: TestPerson
let hostId: string
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  admin = await addPerson(server, { instanceAdmin: true })
})
afterAll(() => server.stop())
beforeEach(async () => {
  hostId = newUuid()
  await sql`delete from audit_entries`.execute(db())
  await enrol('192.0.2.7')
})

const db = () => server.database.db
const enrol = async (address: string) => {
  const { enrolment } = server.controlPlane.docks
  const joinToken = await enrolment.issueJoinToken()
  return enrolment.register({ joinToken, hostId, facts: hostFacts() }, address)
}
const call = async (method: string, path: string, body?: object, { cookie } = admin) => {
  const response = await server.fetch(path, {
    method,
    headers: {
      ...{ cookie, origin: server.config.apiUrl },
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const { code, data } = (await response.json()) as { code?: string; data?: { credential: string } }
  return { outcome: code ?? 'succeeded', data: data! }
}
const context = () => ({ db: db(), clock: server.controlPlane.docks.context.clock })
/** Puts a disk of a host that the database does not know into quarantine. */
const quarantine = async () => {
  const [id, dockId] = [newUuid(), newUuid()]
  const { organizationId } = server.admin
  const note = {
    dockId,
    generation: 1,
    capturedAt: '2026-01-01T00:00:00.000Z',
    hostname: 'found',
    organizationId,
  }
  await sql`insert into quarantine (id, host_id, kind, thing_id, organization_id, dock_id, note, size_bytes, state,
      first_seen_at)
    values (${id}, ${hostId}, 'capture', ${id}, ${organizationId}, ${dockId},
      ${JSON.stringify({ ...note, cpus: 1, memoryMiB: 512, diskGiB: 2 })}::jsonb, 5, 'held', now())`.execute(
    db(),
  )
  return { id, dockId }
}

const enrolled = (through: string, address: string) => ({
  ...{ action: 'host.enrolled', outcome: 'succeeded', through, by: null, target: ['host', hostId, null] },
  details: { address, runtime: 'gvisor', builder: false },
})
const byAdmin = (action: string, details = {}) => ({
  ...{ action, outcome: 'succeeded', through: 'session', by: admin.userId, target: ['host', hostId, null] },
  details,
})

it('tells who enrolled, tested, gave a credential to and gave up a host', async () => {
  const reset = await call('POST', `/v1/hosts/${hostId}/reset-credential`)
  const { rows } = await sql<{ id: string }>`select id from hosts where state = 'online'`.execute(db())
  const online = rows[0]!.id
  await call('POST', `/v1/hosts/${online}/self-test`)
  server.host.failures.set('testRuntime', ['failed'])
  expect((await call('POST', `/v1/hosts/${online}/self-test`)).outcome).toBe('service_unavailable')
  await call('POST', `/v1/hosts/${hostId}/declare-lost`)
  await call('POST', `/v1/hosts/${hostId}/declare-lost`)
  expect(await auditEntries(db(), null)).toEqual([
    enrolled('operator', '192.0.2.7'),
    byAdmin('host.credential_reset'),
    { ...byAdmin('host.tested'), target: ['host', online, null] },
    {
      ...byAdmin('host.tested', { code: 'service_unavailable' }),
      ...{ outcome: 'failed', target: ['host', online, null] },
    },
    byAdmin('host.declared_lost', { docks: 0, failedSnapshots: 0 }),
  ])
  expect(await auditTells(db(), reset.data.credential)).toBe(false)
})

it('tells of the machine that the platform enrolled itself, and of the operator', async () => {
  hostId = newUuid()
  await enrol('local')
  await declareLost(context(), hostId, operator)
  expect((await auditEntries(db(), null)).slice(1)).toMatchObject([
    enrolled('platform', 'local'),
    { action: 'host.declared_lost', through: 'operator', by: null },
  ])
})

it('tells nothing of what is refused', async () => {
  const person = await addPerson(server)
  expect((await call('POST', `/v1/hosts/${hostId}/self-test`, undefined, person)).outcome).not.toBe(
    'succeeded',
  )
  for (const verb of ['self-test', 'reset-credential', 'declare-lost'])
    expect((await call('POST', `/v1/hosts/${newUuid()}/${verb}`)).outcome).toBe('host_not_found')
  expect(await auditEntries(db(), null)).toEqual([enrolled('operator', '192.0.2.7')])
})

it('tells the organization whose data was in quarantine', async () => {
  const [first, second, third] = [await quarantine(), await quarantine(), await quarantine()]
  await call('POST', `/api/dashboard/quarantine/${first.id}/adopt`, {})
  await call('DELETE', `/api/dashboard/quarantine/${second.id}`)
  expect((await call('DELETE', `/api/dashboard/quarantine/${second.id}`)).outcome).toBe('conflict')
  await deleteQuarantined(context(), third.id, operator)
  const fourth = await quarantine()
  await adoptQuarantined(context(), fourth.id, { by: operator })
  const adopted = ({ id }: { id: string }) => ({ snapshot: id, host: hostId, newDock: true })
  const gone = { kind: 'capture', host: hostId }
  const by = { through: 'session', by: admin.userId }
  const none = { through: 'operator', by: null }
  expect(await auditEntries(db(), server.admin.organizationId)).toMatchObject([
    { action: 'quarantine.adopted', ...by, target: ['dock', first.dockId, 'found'], details: adopted(first) },
    { action: 'quarantine.deleted', ...by, target: ['dock', second.dockId, 'found'], details: gone },
    { action: 'quarantine.deleted', ...none, target: ['dock', third.dockId, 'found'], details: gone },
    {
      action: 'quarantine.adopted',
      ...none,
      target: ['dock', fourth.dockId, 'found'],
      details: adopted(fourth),
    },
  ])
})
