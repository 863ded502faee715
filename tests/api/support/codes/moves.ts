/** What scenes are made of: steps of callers, and of a host that fails or takes its time. */
import { newUuid } from '@dock/foundation'
import type { TestPerson } from '@dock/testkit'
import { sql } from 'kysely'
import { storeGrant } from '../../../../apps/control-plane/src/modules/accounts/index.ts'
import { HostRefused } from '../../../../apps/control-plane/src/modules/hosts/index.ts'
import type { Reply, Stage } from './stage.ts'

/** An id of nothing. */
export const nobody = newUuid()

export function create(
  stage: Stage,
  over: object = {},
  as?: TestPerson,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return stage.ask('POST', '/v1/docks', { workspaceId: stage.workspaceId, ...over }, { as, headers })
}
export function idOf({ status, code, data }: Reply): string {
  if (status >= 300) throw new Error(`a scene could not be set: ${status} ${code}`)
  return (data as { id: string }).id
}
export async function dock(stage: Stage, over: object = {}): Promise<string> {
  return idOf(await create(stage, over))
}
export function stop(stage: Stage, id: string, body: object = {}, as?: TestPerson): Promise<Reply> {
  return stage.ask('POST', `/v1/docks/${id}/stop`, body, { as })
}
export async function archived(stage: Stage, over: object = {}): Promise<string> {
  const id = await dock(stage, over)
  idOf(await stop(stage, id))
  return id
}
export function branch(
  stage: Stage,
  id: string,
  body: object = {},
  as?: TestPerson,
  headers: Record<string, string> = {},
) {
  return stage.ask('POST', `/v1/docks/${id}/branch`, body, { as, headers })
}
export function resume(stage: Stage, id: string, body: object = {}, as?: TestPerson): Promise<Reply> {
  return stage.ask('POST', `/v1/docks/${id}/resume`, body, { as })
}
export function exec(
  stage: Stage,
  id: string,
  body: object = {},
  as?: TestPerson,
  headers: Record<string, string> = {},
) {
  return stage.ask('POST', `/v1/docks/${id}/exec`, { command: 'true', ...body }, { as, headers })
}
export function remove(stage: Stage, id: string, as?: TestPerson, confirmation = id): Promise<Reply> {
  return stage.ask('DELETE', `/v1/docks/${id}`, undefined, {
    as,
    headers: { 'x-confirm-delete': confirmation },
  })
}
export async function saveTemplate(stage: Stage, id: string): Promise<void> {
  idOf(await stage.ask('POST', '/v1/templates', { dockId: id, name: 'golden' }))
}

/** The next call of that kind fails on the host. */
export function failing(
  { server: { host } }: Stage,
  method: Parameters<typeof host.failures.set>[0],
  failure: Parameters<typeof host.failures.set>[1][number],
): void {
  host.failures.set(method, [failure])
}

/** Plays while calls of that kind wait on the host; they go on afterwards. */
export async function whileHeld<Answer>(
  { server: { host } }: Stage,
  method: Parameters<typeof host.gate.set>[0],
  begin: () => Promise<unknown>,
  play: () => Promise<Answer>,
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
    return await play()
  } finally {
    clearInterval(look)
    host.gate.delete(method)
    resolve()
    await underWay
  }
}

export async function withoutHost(stage: Stage, play: () => Promise<Reply>): Promise<Reply> {
  stage.server.host.online = false
  try {
    return await play()
  } finally {
    stage.server.host.online = true
  }
}

/** Makes the default Environment pass a variable on, which is for admins. */
export function passSecret(stage: Stage): Promise<Reply> {
  return stage.ask('POST', `/v1/environments/default/vars?organizationId=${stage.organizationId}`, {
    key: 'SECRET',
    value: 'for-admins',
  })
}
export function setSecretsAccess(stage: Stage, secretsAccess: 'members' | 'admins'): Promise<Reply> {
  return stage.ask('PATCH', `/v1/environments/default?organizationId=${stage.organizationId}`, {
    secretsAccess,
  })
}
/** A Dock that has a secret, which a member may not look into. */
export async function barred(stage: Stage): Promise<string> {
  await passSecret(stage)
  return dock(stage)
}
/** Makes the default Environment pass on a repository of a provider that the owner is connected to. */
export async function connect(stage: Stage): Promise<void> {
  const repository = { provider: 'github', repositoryId: '1', fullName: 'org/repository' }
  const path = `/v1/environments/default/repos?organizationId=${stage.organizationId}`
  const answer = await stage.ask('POST', path, repository)
  if (answer.status !== 201) throw new Error(`no repository: ${answer.code}`)
  const { database, controlPlane } = stage.server
  const id = newUuid()
  const { userId } = stage.owner
  await sql`insert into login_accounts (id, user_id, provider_id, account_id, created_at, updated_at)
    values (${id}, ${userId}, 'github', ${newUuid()}, now(), now())`.execute(database.db)
  const grant = { accessToken: `token-${id}`, refreshToken: null, expiresAt: '2126-01-01T00:00:00.000Z' }
  const parts = { db: database.db, sealer: controlPlane.sealer }
  await storeGrant(parts, { id, userId, providerId: 'github' }, grant)
}
export function setPlan(stage: Stage, values: { active?: boolean; docksMax?: number; budget?: number }) {
  return sql`insert into organization_plans (organization_id, active, docks_max, budget_cents, spent_cents)
    values (${stage.organizationId}, ${values.active ?? true}, ${values.docksMax ?? null}, ${values.budget ?? null}, 1)
    on conflict (organization_id) do update set active = excluded.active, docks_max = excluded.docks_max,
      budget_cents = excluded.budget_cents`.execute(stage.server.database.db)
}
export async function onPlan(
  stage: Stage,
  values: Parameters<typeof setPlan>[1],
  play: () => Promise<Reply>,
) {
  await setPlan(stage, values)
  return play()
}
/** As if it had been made under another runtime, and had been copied. */
export function ofOtherRuntime(stage: Stage, dockId: string) {
  return sql`with template as (update templates set runtime = 'microvm' where source_dock_id = ${dockId})
    update snapshots set runtime = 'microvm', copied_at = coalesce(copied_at, now())
    where dock_id = ${dockId}`.execute(stage.server.database.db)
}

export function isBarred(play: (stage: Stage, id: string, as: TestPerson) => Promise<Reply>) {
  return async (stage: Stage) => play(stage, await barred(stage), stage.member)
}
export function isAbsent(method: string, rest = '', body?: object) {
  return (stage: Stage) => stage.ask(method, `/v1/docks/${nobody}${rest}`, body)
}

/** Uses a ticket after something has happened. */
export async function withTicket(
  stage: Stage,
  then: (id: string) => Promise<unknown>,
  as?: TestPerson,
): Promise<Reply> {
  const id = await dock(stage)
  const { data } = await stage.ask('POST', `/v1/docks/${id}/terminal`, undefined, { as })
  await then(id)
  return stage.upgrade(`/v1/docks/${id}/terminal?ticket=${(data as { ticket: string }).ticket}`)
}

/** Uses one while the host has no terminals. */
export async function withoutTerminals(stage: Stage): Promise<Reply> {
  const { connections } = stage.server.host
  const { unreachable } = connections
  try {
    return await withTicket(stage, async () => {
      connections.unreachable = new HostRefused('unsupported', 'no terminals')
    })
  } finally {
    connections.unreachable = unreachable
  }
}
