/** A repeated command gets the first result whatever its body is, over HTTP. */
import { startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, expect, it } from 'vitest'
import { makeTenant } from './support/tenant.ts'

const server = await startControlPlaneWithHost()
afterAll(() => server.stop())

it('gets the first result, also with a body that is not valid', async () => {
  const { dockId, owner, member } = await makeTenant(server)
  const exec = async (body: string, key: string | null, as = owner) => {
    const response = await server.fetch(`/v1/docks/${dockId}/exec`, {
      method: 'POST',
      headers: { authorization: `Bearer ${as.apiKey}`, ...(key === null ? {} : { 'idempotency-key': key }) },
      body,
    })
    return (await response.json()) as { code?: string; data?: unknown }
  }
  const invalid = ['{"command":""}', '{"command":"true","more":1}', '{', '[]', '']
  for (const body of invalid) {
    expect([body, (await exec(body, null)).code]).toEqual([body, 'validation_error'])
    expect([body, (await exec(body, 'key')).code]).toEqual([body, 'validation_error'])
  }
  const first = await exec('{"command":"true"}', 'key')
  expect(first.data).toMatchObject({ exitCode: 0 })
  const ran = server.host.calls.length
  for (const body of [...invalid, '{"command":"other"}'])
    for (const as of [owner, member]) expect(await exec(body, 'key', as)).toEqual(first)
  expect(server.host.calls).toHaveLength(ran)
  const stranger = await makeTenant(server)
  expect((await exec('{', 'key', stranger.owner)).code).toBe('dock_not_found')
})
