/** For tests: an instance with a fake host, and people with sessions who call its API. */

import { hashPassword } from '@dock/control-plane/src/modules/accounts/create-person.ts'
import { newUuid } from '@dock/foundation'
import { createFakeHost, type FakeHost, hostFacts, inventoryOf } from '../docks/fake-host.ts'
import { addPerson, startTestControlPlane, type TestControlPlane } from '../index.ts'
import { createVirtualClock, type VirtualClock } from '../virtual-clock.ts'

export type Session = { cookie: string; origin: string }
export type Reply = { status: number; headers: Headers; code: string | undefined; data: unknown }
export type Person = { id: string; email: string; session: Session }

export type ClosureWorld = {
  server: TestControlPlane
  clock: VirtualClock
  host: FakeHost
  hostId: string
  /** The first person, an instance admin. */
  admin: Person
  call(session: Session, method: string, path: string, body?: object): Promise<Reply>
  /** Adds a verified person with a session. */
  addPerson(email: string): Promise<Person>
  join(person: Person, organizationId: string, role: 'member' | 'admin' | 'owner'): Promise<void>
  createOrganization(person: Person): Promise<{ organizationId: string; workspaceId: string }>
  createDock(person: Person, workspaceId: string): Promise<string>
  stateOf(dockId: string): Promise<string | undefined>
}

const password = 'a long password'

export async function createClosureWorld(): Promise<ClosureWorld> {
  const clock = createVirtualClock()
  const hostId = newUuid()
  const host = createFakeHost(hostId)
  const server = await startTestControlPlane({ clock, hostGateway: host })
  const { docks } = server.controlPlane
  const { db } = server.database
  const joinToken = await docks.enrolment.issueJoinToken()
  await docks.enrolment.register({ joinToken, hostId, facts: hostFacts() }, '127.0.0.1')
  await docks.hostEvents.handle(hostId, inventoryOf())
  // Keeps the host online however far a test advances the clock.
  await db
    .updateTable('hosts')
    .set({ last_heartbeat_at: new Date('2100-01-01') })
    .execute()
  const call: ClosureWorld['call'] = async (session, method, path, body) => {
    const response = await server.fetch(path, {
      method,
      headers: session,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const answer = (await response.json()) as { code?: string; data?: unknown }
    return { status: response.status, headers: response.headers, code: answer.code, data: answer.data }
  }
  const { id } = await db
    .selectFrom('users')
    .select('id')
    .where('email', '=', server.admin.email)
    .executeTakeFirstOrThrow()
  return {
    server,
    clock,
    host,
    hostId,
    admin: { id, email: server.admin.email, session: await server.signIn() },
    call,
    addPerson: async (email) => {
      const { userId, cookie } = await addPerson(server, { email })
      await db
        .insertInto('login_accounts')
        .values({
          user_id: userId,
          account_id: userId,
          provider_id: 'credential',
          password: await hashPassword(password),
        })
        .execute()
      return { id: userId, email, session: { cookie, origin: server.config.apiUrl } }
    },
    join: async (person, organizationId, role) => {
      await db
        .insertInto('memberships')
        .values({ organization_id: organizationId, user_id: person.id, role })
        .execute()
    },
    createOrganization: async (person) => {
      const made = await call(person.session, 'POST', '/v1/organizations', { name: `Of ${person.email}` })
      const organizationId = (made.data as { id: string }).id
      const listed = await call(person.session, 'GET', `/v1/organizations/${organizationId}/workspaces`)
      return { organizationId, workspaceId: (listed.data as { id: string }[])[0]!.id }
    },
    createDock: async (person, workspaceId) => {
      const size = { cpus: 1, memoryMiB: 512, diskGiB: 1 }
      const made = await call(person.session, 'POST', '/v1/docks', { workspaceId, ...size })
      if (made.status !== 201) throw new Error(`creating a Dock failed: ${made.status} ${made.code}`)
      return (made.data as { id: string }).id
    },
    stateOf: async (dockId) =>
      (await db.selectFrom('docks').select('state').where('id', '=', dockId).executeTakeFirst())?.state,
  }
}
