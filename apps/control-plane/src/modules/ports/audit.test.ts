/** What the audit log tells of exposed ports and of changes to a Dock's row. */
import { issueDockKey } from '@dock/control-plane/keys'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { auditEntries } from '@dock/testkit/src/audit-entries.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

let server: ControlPlaneWithHost
let dockId: string
let by: string
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  by = (await server.database.db.selectFrom('users').select('id').executeTakeFirstOrThrow()).id
})
afterAll(() => server.stop())
beforeEach(async () => {
  dockId = await server.addDock()
  await sql`delete from audit_entries`.execute(server.database.db)
})

const call = async (method: string, rest: string, body?: object, key?: string) =>
  (await server.call(method, `/v1/docks/${dockId}${rest}`, body, key)).body.code ?? 'succeeded'
const told = async () =>
  (await auditEntries(server.database.db, server.admin.organizationId)).map((entry) => {
    expect(entry).toMatchObject({ outcome: 'succeeded', by, target: ['dock', dockId, expect.any(String)] })
    return [entry.action, entry.through, entry.details]
  })

it('tells who exposed, changed and closed a port', async () => {
  await call('POST', '/ports', { port: 3000 })
  await call('POST', '/ports', { port: 3000 })
  await call('PATCH', '/ports/3000', { host: 'public' })
  await call('PATCH', '/ports/3000', { host: 'public' })
  expect(await call('PATCH', '/ports/4000', { host: 'public' })).toBe('port_not_found')
  await call('DELETE', '/ports/3000')
  expect(await call('DELETE', '/ports/3000')).toBe('port_not_found')
  expect(await told()).toEqual([
    ['port.exposed', 'api_key', { port: 3000 }],
    ['port.changed', 'api_key', { port: 3000, host: 'public', hostBefore: 'local' }],
    ['port.closed', 'api_key', { port: 3000 }],
  ])
})

it("tells what the Dock's own key exposed", async () => {
  const { organizationId } = server.admin
  const holder = { dockId, organizationId, userId: by, now: new Date() }
  const key = (await issueDockKey(server.database.db, holder))!
  await call('POST', '/ports', { port: 3000 }, key)
  expect(await told()).toEqual([['port.exposed', 'dock_key', { port: 3000 }]])
})

it('tells the old and the new name, size and ttl of a Dock', async () => {
  const { name } = (await server.call('GET', `/v1/docks/${dockId}`)).body.data as { name: string }
  await call('PATCH', '', { name: 'renamed', ttlSeconds: 600 })
  await call('PATCH', '', { name: 'renamed' })
  expect(await call('PATCH', '', { cpus: 1 })).toBe('conflict')
  expect(await told()).toEqual([
    [
      'dock.updated',
      'api_key',
      { name: 'renamed', nameBefore: name, ttlSeconds: 600, ttlSecondsBefore: null },
    ],
  ])
})
