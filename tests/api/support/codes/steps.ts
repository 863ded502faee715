/** Steps of triggers: calls of the API, and hosts that fail or wait. */
import { newUuid } from '@dock/foundation'
import type { TestPerson } from '@dock/testkit'
import { sql } from 'kysely'
import { storeGrant } from '../../../../apps/control-plane/src/modules/accounts/index.ts'
import { HostRefused } from '../../../../apps/control-plane/src/modules/hosts/index.ts'
import type { Fixture, Reply } from './fixture.ts'

/** An id that does not exist. */
export const absentId = newUuid()

export function create(
  fixture: Fixture,
  over: object = {},
  as?: TestPerson,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return fixture.ask('POST', '/v1/docks', { workspaceId: fixture.workspaceId, ...over }, { as, headers })
}
export function idOf({ status, code, data }: Reply): string {
  if (status >= 300) throw new Error(`could not prepare a trigger: ${status} ${code}`)
  return (data as { id: string }).id
}
export async function dock(fixture: Fixture, over: object = {}): Promise<string> {
  return idOf(await create(fixture, over))
}
export function stop(fixture: Fixture, id: string, body: object = {}, as?: TestPerson): Promise<Reply> {
  return fixture.ask('POST', `/v1/docks/${id}/stop`, body, { as })
}
export async function archived(fixture: Fixture, over: object = {}): Promise<string> {
  const id = await dock(fixture, over)
  idOf(await stop(fixture, id))
  return id
}
export function branch(
  fixture: Fixture,
  id: string,
  body: object = {},
  as?: TestPerson,
  headers: Record<string, string> = {},
) {
  return fixture.ask('POST', `/v1/docks/${id}/branch`, body, { as, headers })
}
export function resume(fixture: Fixture, id: string, body: object = {}, as?: TestPerson): Promise<Reply> {
  return fixture.ask('POST', `/v1/docks/${id}/resume`, body, { as })
}
export function exec(
  fixture: Fixture,
  id: string,
  body: object = {},
  as?: TestPerson,
  headers: Record<string, string> = {},
) {
  return fixture.ask('POST', `/v1/docks/${id}/exec`, { command: 'true', ...body }, { as, headers })
}
export function remove(fixture: Fixture, id: string, as?: TestPerson, confirmation = id): Promise<Reply> {
  return fixture.ask('DELETE', `/v1/docks/${id}`, undefined, {
    as,
    headers: { 'x-confirm-delete': confirmation },
  })
}
export async function saveTemplate(fixture: Fixture, id: string): Promise<void> {
  idOf(await fixture.ask('POST', '/v1/templates', { dockId: id, name: 'golden' }))
}

/** Makes the next call of this kind fail on the host. */
export function failing(
  { server: { host } }: Fixture,
  method: Parameters<typeof host.failures.set>[0],
  failure: Parameters<typeof host.failures.set>[1][number],
): void {
  host.failures.set(method, [failure])
}

/** Starts `begin`, waits until its call of this kind hangs on the host, runs `act`, then lets the call continue. */
export async function whileHeld<Answer>(
  { server: { host } }: Fixture,
  method: Parameters<typeof host.gate.set>[0],
  begin: () => Promise<unknown>,
  act: () => Promise<Answer>,
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { promise: called, resolve: call } = Promise.withResolvers<void>()
  host.gate.set(method, promise)
  const known = host.calls.length
  const underWay = begin()
  const look = setInterval(() => {
    if (host.calls.slice(known).some((each) => each.method === method)) call()
  }, 5)
  try {
    await called
    return await act()
  } finally {
    clearInterval(look)
    host.gate.delete(method)
    resolve()
    await underWay
  }
}

export async function withoutHost(fixture: Fixture, act: () => Promise<Reply>): Promise<Reply> {
  fixture.server.host.online = false
  try {
    return await act()
  } finally {
    fixture.server.host.online = true
  }
}

/** Adds a secret variable to the default Environment. Only admins may see it. */
export function passSecret(fixture: Fixture): Promise<Reply> {
  return fixture.ask('POST', `/v1/environments/default/vars?organizationId=${fixture.organizationId}`, {
    key: 'SECRET',
    value: 'for-admins',
  })
}
export function setSecretsAccess(fixture: Fixture, secretsAccess: 'members' | 'admins'): Promise<Reply> {
  return fixture.ask('PATCH', `/v1/environments/default?organizationId=${fixture.organizationId}`, {
    secretsAccess,
  })
}
/** Creates a Dock with a secret, which a member may not access. */
export async function barred(fixture: Fixture): Promise<string> {
  await passSecret(fixture)
  return dock(fixture)
}
/** Adds a repository to the default Environment, with a provider that the owner is connected to. */
export async function connect(fixture: Fixture): Promise<void> {
  const repository = { provider: 'github', repositoryId: '1', fullName: 'org/repository' }
  const path = `/v1/environments/default/repos?organizationId=${fixture.organizationId}`
  const answer = await fixture.ask('POST', path, repository)
  if (answer.status !== 201) throw new Error(`could not add the repository: ${answer.code}`)
  const { database, controlPlane } = fixture.server
  const id = newUuid()
  const { userId } = fixture.owner
  await sql`insert into login_accounts (id, user_id, provider_id, account_id, created_at, updated_at)
    values (${id}, ${userId}, 'github', ${newUuid()}, now(), now())`.execute(database.db)
  const grant = { accessToken: `token-${id}`, refreshToken: null, expiresAt: '2126-01-01T00:00:00.000Z' }
  const parts = { db: database.db, sealer: controlPlane.sealer }
  await storeGrant(parts, { id, userId, providerId: 'github' }, grant)
}
export function setPlan(fixture: Fixture, values: { active?: boolean; docksMax?: number; budget?: number }) {
  return sql`
    with plan as (insert into plans (name, currency, docks_max, budget_micros, vcpu_second, memory_gib_second,
        disk_gib_month, snapshot_gib_month)
      values (${newUuid()}, 'EUR', ${values.docksMax ?? null}, ${values.budget ?? null}, 0, 0, 0, 0) returning name)
    insert into organization_plans (organization_id, plan, active, spent_month, spent_micros)
    select ${fixture.organizationId}::uuid, name, ${values.active ?? true}, date_trunc('month', metering_day()), 1 from plan
    on conflict (organization_id) do update set plan = excluded.plan, active = excluded.active`.execute(
    fixture.server.database.db,
  )
}
export async function onPlan(
  fixture: Fixture,
  values: Parameters<typeof setPlan>[1],
  act: () => Promise<Reply>,
) {
  await setPlan(fixture, values)
  return act()
}
/** Marks the Dock's Snapshots and Templates as made by another runtime and copied. */
export function ofOtherRuntime(fixture: Fixture, dockId: string) {
  return sql`with template as (update templates set runtime = 'microvm' where source_dock_id = ${dockId})
    update snapshots set runtime = 'microvm', copied_at = coalesce(copied_at, now())
    where dock_id = ${dockId}`.execute(fixture.server.database.db)
}

export function isBarred(act: (fixture: Fixture, id: string, as: TestPerson) => Promise<Reply>) {
  return async (fixture: Fixture) => act(fixture, await barred(fixture), fixture.member)
}
export function isAbsent(method: string, rest = '', body?: object) {
  return (fixture: Fixture) => fixture.ask(method, `/v1/docks/${absentId}${rest}`, body)
}

/** Requests a terminal ticket, runs `then`, and uses the ticket. */
export async function withTicket(
  fixture: Fixture,
  then: (id: string) => Promise<unknown>,
  as?: TestPerson,
): Promise<Reply> {
  const id = await dock(fixture)
  const { data } = await fixture.ask('POST', `/v1/docks/${id}/terminal`, undefined, { as })
  await then(id)
  return fixture.upgrade(`/v1/docks/${id}/terminal?ticket=${(data as { ticket: string }).ticket}`)
}

/** Attaches a terminal to a new process, and calls `then` while the ticket is unused. */
export async function attachTerminal(
  fixture: Fixture,
  offset: number,
  then: (processPath: string) => Promise<unknown> = async () => undefined,
): Promise<Reply> {
  const id = await dock(fixture)
  const started = await fixture.ask('POST', `/v1/docks/${id}/processes`, {
    ...{ command: 'sleep 600', pty: { cols: 80, rows: 24 } },
  })
  const processId = (started.data as { id: string }).id
  const path = `/v1/docks/${id}/processes/${processId}`
  const { data } = await fixture.ask('POST', `${path}/terminal`, { offset })
  await then(path)
  return fixture.upgrade(`/v1/docks/${id}/terminal?ticket=${(data as { ticket: string }).ticket}`)
}

/** Uses a ticket on a host that does not support terminals. */
export async function withoutTerminals(fixture: Fixture): Promise<Reply> {
  const { connections } = fixture.server.host
  const { unreachable } = connections
  try {
    return await withTicket(fixture, async () => {
      connections.unreachable = new HostRefused('unsupported', 'no terminals')
    })
  } finally {
    connections.unreachable = unreachable
  }
}
