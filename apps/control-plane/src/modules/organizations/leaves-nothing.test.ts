/**
 * A deleted organization leaves no row in any table that has a column `organization_id`, except the audit log: instance
 * admins must be able to see who deleted it, and what happened before. The test reads the list of tables from the database,
 * so that it also covers tables added later.
 */
import { newUuid } from '@dock/foundation'
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'

let server: ControlPlaneWithHost
beforeAll(async () => {
  server = await startControlPlaneWithHost()
})
afterAll(() => server.stop())

/** Returns the number of the organization's rows in every table with a column `organization_id`. */
const rowsOf = async (organizationId: string): Promise<Record<string, number>> => {
  const { db } = server.database
  const tables = await sql<{ name: string }>`select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'organization_id' order by 1`.execute(db)
  const counts: Record<string, number> = {}
  for (const { name } of tables.rows) {
    const counted = await sql<{ n: number }>`select count(*)::int as n from ${sql.table(name)}
      where organization_id = ${organizationId}`.execute(db)
    counts[name] = counted.rows[0]!.n
  }
  return counts
}

it('leaves no rows of an organization that had Docks, commands, Snapshots, Environments and limits', async () => {
  const owner = await addPerson(server)
  const ask = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const { body: answer, status } = await server.call(method, path, body, owner.apiKey)
    if (status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer.data as T
  }
  const { id } = await ask<{ id: string }>('POST', '/v1/organizations', { name: 'Goes' })
  const [workspace] = await ask<[{ id: string }]>('GET', `/v1/organizations/${id}/workspaces`)
  const key = { authorization: `Bearer ${owner.apiKey}`, 'idempotency-key': 'once' }
  const made = await server.fetch('/v1/docks', {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: JSON.stringify({ workspaceId: workspace.id, env: { A: 'b' } }),
  })
  const dock = ((await made.json()) as { data: { id: string } }).data
  const ran = await server.fetch(`/v1/docks/${dock.id}/exec`, {
    method: 'POST',
    headers: { ...key, 'content-type': 'application/json' },
    body: JSON.stringify({ command: 'true' }),
  })
  expect(ran.status).toBe(200)
  await ask('POST', `/v1/environments/default/vars?organizationId=${id}`, { key: 'A', value: 'b' })
  await server.call('PATCH', `/v1/organizations/${id}/limits`, { docks: 5 })
  await ask('POST', `/v1/docks/${dock.id}/stop`, {})
  await ask('POST', `/v1/organizations/${id}/members`, { email: 'invited@example.test' })
  for (const state of ['held', 'deleted'])
    await sql`insert into quarantine (id, kind, thing_id, organization_id, state, first_seen_at)
      values (${newUuid()}, 'objects', ${newUuid()}, ${id}, ${state}, now())`.execute(server.database.db)
  const before = await rowsOf(id)
  for (const table of [
    'docks',
    'snapshots',
    'operations',
    'dock_state_changes',
    'dock_events',
    'idempotency_keys',
    'exec_keys',
    'organization_limits',
    'organization_storage',
    'outbox_mails',
    'quarantine',
  ])
    expect(before[table], table).toBeGreaterThan(0)
  await ask('DELETE', `/v1/organizations/${id}`)
  const { removal } = server.controlPlane
  await expect
    .poll(
      async () => {
        await removal.run()
        const left = await sql`select 1 from organizations where id = ${id}`.execute(server.database.db)
        return left.rows.length
      },
      { timeout: 30_000 },
    )
    .toBe(0)
  const { audit_entries: kept, ...rows } = await rowsOf(id)
  expect(Object.entries(rows).filter(([, count]) => count > 0)).toEqual([])
  expect(kept).toBeGreaterThan(before.audit_entries!)
  const { body } = await server.call('GET', '/v1/audit?action=organization.deleted')
  const { entries } = body.data as { entries: { organizationId: string }[] }
  expect(entries.map((entry) => entry.organizationId)).toEqual([id])
})
