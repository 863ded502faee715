/** An organization with a person in each role and a Dock on a simulated host. */
import { newUuid } from '@dock/foundation'
import { addPerson, type TestControlPlane, type TestPerson } from '@dock/testkit'

export type Tenant = {
  organizationId: string
  workspaceId: string
  environmentId: string
  dockId: string
  owner: TestPerson
  admin: TestPerson
  member: TestPerson
}

/** Sends a request as a person and returns its data, whose type the caller knows. Throws if the request fails. */
export async function ask<Data>(
  server: TestControlPlane,
  person: TestPerson,
  method: string,
  path: string,
  body?: unknown,
): Promise<Data> {
  const answer = await server.call(method, path, body, person.apiKey)
  if (!answer.body.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data as Data
}

export async function makeTenant(server: TestControlPlane): Promise<Tenant> {
  const owner = await addPerson(server)
  const name = `Tenant ${newUuid()}`
  const asOwner = <Data>(method: string, path: string, body?: unknown) =>
    ask<Data>(server, owner, method, path, body)
  const organization = await asOwner<{ id: string }>('POST', '/v1/organizations', { name, seats: 20 })
  const organizationId = organization.id
  const admin = await addPerson(server, { role: 'admin', organizationId })
  const member = await addPerson(server, { role: 'member', organizationId })
  const [workspace] = await asOwner<[{ id: string }]>('GET', `/v1/organizations/${organizationId}/workspaces`)
  const environment = await server.database.db
    .selectFrom('environments')
    .select('id')
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  const dock = await asOwner<{ id: string }>('POST', '/v1/docks', { workspaceId: workspace.id })
  return {
    organizationId,
    workspaceId: workspace.id,
    environmentId: environment.id,
    dockId: dock.id,
    owner,
    admin,
    member,
  }
}
