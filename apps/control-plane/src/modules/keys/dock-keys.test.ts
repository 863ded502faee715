import { newUuid } from '@dock/foundation'
import { addPerson, type TestControlPlane, testControlPlane } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { issueDockKey, revokeDockKeys } from './dock-keys.ts'

let server: TestControlPlane
beforeAll(async () => {
  server = await testControlPlane()
})
afterAll(() => server.stop())

it('reach their own Dock alone, are not listed, and end when they are revoked', async () => {
  const { db } = server.database
  const person = await addPerson(server, { role: 'member' })
  const [dockId, otherDock, now] = [newUuid(), newUuid(), new Date()]
  const key = await issueDockKey(db, { dockId, userId: person.userId, now })
  const other = await issueDockKey(db, { dockId: otherDock, userId: person.userId, now })
  const codeOf = async (method: string, path: string, as = key) =>
    (await server.call(method, path, undefined, as)).body.code

  for (const path of ['', '/ports', '/stats'])
    expect(await codeOf('GET', `/v1/docks/${dockId}${path}`)).not.toBe('dock_key_forbidden')
  for (const [method, path] of [
    ['GET', '/v1/me'],
    ['GET', '/v1/docks'],
    ['GET', `/v1/docks/${otherDock}`],
    ['DELETE', `/v1/docks/${dockId}`],
    ['POST', `/v1/docks/${dockId}/exec`],
    ['POST', '/v1/api-keys'],
    ['GET', '/v1/me/invitations'],
    ['GET', `/v1/invitations/${dockId}`],
    ['POST', `/v1/invitations/${dockId}/accept`],
  ] as const)
    expect([path, await codeOf(method, path)]).toEqual([path, 'dock_key_forbidden'])
  const listed = await server.call('GET', '/v1/api-keys', undefined, person.apiKey)
  expect(listed.body.data).toHaveLength(1)

  await revokeDockKeys(db, dockId, now)
  await revokeDockKeys(db, dockId, now)
  expect(await codeOf('GET', `/v1/docks/${dockId}`)).toBe('unauthorized')
  expect(await codeOf('GET', `/v1/docks/${otherDock}`, other)).toBe('dock_not_found')
})
