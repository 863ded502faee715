/** What the audit log tells of people who enter a Dock by a terminal. tests/api/ssh has the same for SSH. */
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { auditEntries } from '@dock/testkit/src/audit-entries.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { recordDockEntered } from '../audit/index.ts'

let server: ControlPlaneWithHost
let dockId: string
beforeAll(async () => {
  server = await startControlPlaneWithHost()
})
afterAll(() => server.stop())
beforeEach(async () => {
  dockId = await server.addDock()
  await sql`delete from audit_entries`.execute(server.database.db)
})

const ask = async (key?: string) =>
  (await server.call('POST', `/v1/docks/${dockId}/terminal`, undefined, key)).body.code ?? 'succeeded'
const told = () => auditEntries(server.database.db, server.admin.organizationId)

it('tells once in 10 minutes that a person entered, for each credential, Dock and means', async () => {
  const other = await addPerson(server, { role: 'member' })
  const stranger = await addPerson(server)
  await Promise.all([ask(), ask(), ask()])
  expect(await ask(other.apiKey)).toBe('succeeded')
  await ask(other.apiKey)
  expect(await ask(stranger.apiKey)).toBe('dock_not_found')
  const entered = { action: 'dock.entered', through: 'api_key', details: { by: 'terminal' } }
  expect(await told()).toMatchObject([entered, { ...entered, by: other.userId }])
})

it('tells nothing of a terminal that is refused', async () => {
  await server.call('POST', `/v1/docks/${dockId}/stop`, {})
  expect(await ask()).toBe('dock_not_running')
  expect(await told()).toMatchObject([{ action: 'dock.stopped' }])
})

it('tells again after 10 minutes, not sooner, wherever in an hour they begin', async () => {
  const { db } = server.database
  const person = await addPerson(server, { role: 'member' })
  const caller = {
    userId: person.userId,
    kind: 'ssh_key',
    credentialId: 'key',
    address: '192.0.2.1',
  } as const
  const dock = { id: dockId, organizationId: server.admin.organizationId, name: 'dock' }
  const enter = (minute: number, by: 'ssh' | 'terminal' = 'ssh') =>
    recordDockEntered(db, caller, dock, { by, now: new Date(Date.UTC(2026, 0, 1, 0, minute)) })
  for (const minute of [7, 8, 12, 16, 18, 27, 28]) await enter(minute)
  await enter(28, 'terminal')
  const { rows } = await sql<{ at: Date; by: string }>`select at, details ->> 'by' as by from audit_entries
    where action = 'dock.entered' order by at, by`.execute(db)
  expect(rows.map(({ at, by }) => [at.getUTCMinutes(), by])).toEqual([
    [7, 'ssh'],
    [18, 'ssh'],
    [28, 'ssh'],
    [28, 'terminal'],
  ])
})
