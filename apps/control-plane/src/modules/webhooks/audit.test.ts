/** What the audit log tells of webhook endpoints: never the secret, and of the URL the host alone. */
import { routes } from '@dock/contract'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { auditEntries, auditTells } from '@dock/testkit/src/audit-entries.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'

let server: TestControlPlane
let session: { cookie: string; origin: string }
beforeAll(async () => {
  server = await startTestControlPlane()
  session = await server.signIn()
  await sql`delete from audit_entries`.execute(server.database.db)
})
afterAll(() => server.stop())

const send = async (method: string, rest = '', body?: object) => {
  const query = `?organizationId=${server.admin.organizationId}`
  const response = await server.fetch(`/v1/webhooks/endpoints${rest}${body ? '' : query}`, {
    method,
    headers: { ...session, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const { code, data } = (await response.json()) as { code?: string; data: unknown }
  return code ?? data
}

it('tells who created, enabled, rotated and deleted an endpoint', async () => {
  const { db } = server.database
  const { organizationId } = server.admin
  const url = 'https://hooks.example.com/services/canary-path?key=canary-query'
  const body = { organizationId, name: 'hook', url, events: ['dock.ready', 'dock.archived'] }
  const made = routes.createWebhookEndpoint.response.parse(await send('POST', '', body))
  await send('POST', `/${made.id}/enable`)
  await sql`update webhook_endpoints set disabled_at = now()`.execute(db)
  await send('POST', `/${made.id}/enable`)
  const rotated = routes.createWebhookEndpoint.response.parse(await send('POST', `/${made.id}/rotate-secret`))
  await send('DELETE', `/${made.id}`)
  expect(await send('DELETE', `/${made.id}`)).toBe('webhook_endpoint_not_found')
  expect(await send('POST', '', { ...body, events: [] })).toBe('validation_error')

  const { id: by } = await db.selectFrom('users').select('id').executeTakeFirstOrThrow()
  const entry = (action: string, details = {}) => ({
    ...{
      action,
      outcome: 'succeeded',
      through: 'session',
      by,
      target: ['webhook', made.id, 'hook'],
      details,
    },
  })
  expect(await auditEntries(db, organizationId)).toEqual([
    entry('webhook.created', { host: 'hooks.example.com', events: 'dock.ready, dock.archived' }),
    entry('webhook.enabled'),
    entry('webhook.secret_rotated'),
    entry('webhook.deleted'),
  ])
  for (const secret of [made.secret, rotated.secret, 'canary-path', 'canary-query'])
    expect(await auditTells(db, secret)).toBe(false)
})
