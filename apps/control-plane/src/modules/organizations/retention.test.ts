import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { retentionEnabled } from '../accounts/index.ts'

let server: TestControlPlane
let headers: Record<string, string>
let path: string
beforeAll(async () => {
  server = await startTestControlPlane()
  headers = await server.signIn()
  path = `/v1/account/retention?organizationId=${server.admin.organizationId}`
})
afterAll(() => server.stop())

const patch = async (body: object) => {
  const response = await server.fetch(path, { method: 'PATCH', headers, body: JSON.stringify(body) })
  const answer = (await response.json()) as { code?: string; data?: unknown }
  return { status: response.status, cache: response.headers.get('cache-control'), ...answer }
}
const confirmation = 'delete archived dock data'

it('is off by default, and an owner with a session turns it on with the exact phrase and off without it', async () => {
  const first = await server.call('GET', path)
  expect([first.body.data, first.headers.get('cache-control')]).toEqual([{ enabled: false }, 'no-store'])
  for (const body of [{ enabled: true }, { enabled: true, confirmation: 'yes' }])
    expect(await patch(body)).toMatchObject({ status: 400, code: 'confirm_required' })
  const byKey = await server.call('PATCH', path, { enabled: true, confirmation })
  expect([byKey.status, byKey.body.code]).toEqual([403, 'session_required'])

  expect(await patch({ enabled: true, confirmation })).toMatchObject({
    status: 200,
    cache: 'no-store',
    data: { enabled: true },
  })
  expect((await server.call('GET', path)).body.data).toEqual({ enabled: true })
  expect(await retentionEnabled(server.database.db, server.admin.organizationId)).toBe(true)
  expect(await patch({ enabled: false })).toMatchObject({ data: { enabled: false } })
})

it('is refused to admins and hidden from outsiders', async () => {
  const { db } = server.database
  await db.updateTable('memberships').set({ role: 'admin' }).execute()
  expect(await patch({ enabled: false })).toMatchObject({ status: 403, code: 'forbidden' })
  await db.deleteFrom('memberships').execute()
  expect(await patch({ enabled: false })).toMatchObject({ status: 404, code: 'organization_not_found' })
  expect((await server.call('GET', path)).body.code).toBe('organization_not_found')
})
