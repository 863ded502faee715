import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { issueDockKey, listLiveDockKeyIds, revokeDockKeys } from './dock-keys.ts'

let server: TestControlPlane
beforeAll(async () => {
  server = await startTestControlPlane()
})
afterAll(() => server.stop())

const addDock = async (organizationId: string): Promise<string> => {
  const id = newUuid()
  await sql`insert into docks (id, organization_id, workspace_id, name, image, cpus, memory_mib, disk_gib, runtime,
      state, state_changed_at, generation, environment, no_env, placed, has_disk, setup_status, created_by, created_at,
      updated_at)
    select ${id}, ${organizationId}, w.id, ${id}, 'debian-13', 1, 512, 1, 'gvisor', 'ready', now(), 1,
      'default', false, false, false, 'done', 'somebody', now(), now()
    from workspaces w where w.organization_id = ${organizationId} limit 1`.execute(server.database.db)
  return id
}

it('access only their own Dock, are not listed, and stop working when they are revoked', async () => {
  const { db } = server.database
  const person = await addPerson(server, { role: 'member' })
  const { userId } = person
  const made = await server.call('POST', '/v1/organizations', { name: 'Keys' }, person.apiKey)
  const { id: organizationId } = made.body.data as { id: string }
  const [dockId, otherDock, now] = [await addDock(organizationId), await addDock(organizationId), new Date()]
  const issue = async (id: string) =>
    (await issueDockKey(db, { dockId: id, organizationId, userId, now })) ?? 'none'
  const key = await issue(dockId)
  const other = await issue(otherDock)
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

  const ended = await listLiveDockKeyIds(db, dockId)
  await revokeDockKeys(db, dockId, ended)
  await revokeDockKeys(db, dockId, ended)
  expect(await codeOf('GET', `/v1/docks/${dockId}`)).toBe('unauthorized')
  expect(await codeOf('GET', `/v1/docks/${otherDock}`, other)).toBeUndefined()
  await sql`delete from docks where id = ${otherDock}`.execute(db)
  expect(await codeOf('GET', `/v1/docks/${otherDock}`, other)).toBe('unauthorized')
})
