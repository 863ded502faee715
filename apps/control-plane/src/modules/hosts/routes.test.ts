/** The routes behind the pages of hosts and the quarantine. tests/api/access-matrix.test.ts checks who may call them. */
import { routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { hostFacts } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

let server: ControlPlaneWithHost
/** Sessions of two instance admins: the first person, and one who is no member of the first person's organization. */
let member: { cookie: string; origin: string }
let outsider: { cookie: string; origin: string; userId: string }
/** A host that never reports, so that nothing but these tests changes what it has in quarantine. */
const hostId = newUuid()
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  const origin = server.config.apiUrl
  member = await server.signIn()
  outsider = { ...(await addPerson(server, { instanceAdmin: true })), origin }
  const { enrolment } = server.controlPlane.docks
  const joinToken = await enrolment.issueJoinToken()
  await enrolment.register({ joinToken, hostId, facts: hostFacts() }, '127.0.0.1')
})
afterAll(() => server.stop())
beforeEach(() => sql`delete from quarantine`.execute(server.database.db))

const call = async (
  method: string,
  path: string,
  body?: object,
  { cookie, origin }: { cookie: string; origin: string } = outsider,
) => {
  const response = await server.fetch(path, {
    method,
    headers: { cookie, origin, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const answer = (await response.json()) as { code?: string; message?: string; data?: unknown }
  return { status: response.status, ...answer }
}
const list = async () => {
  const { data } = await call('GET', '/api/dashboard/quarantine')
  return routes.listQuarantine.response.parse(data)
}
/** Puts something into quarantine, as a report of the host does. */
const quarantine = async (over: { kind?: string; state?: string; dockId?: string; age?: number } = {}) => {
  const { kind = 'capture', state = 'held', dockId = newUuid(), age = 0 } = over
  const id = newUuid()
  const host = kind === 'objects' ? null : hostId
  const note = { dockId, generation: 1, capturedAt: '2026-01-01T00:00:00.000Z', hostname: 'found' }
  const size = { cpus: 1, memoryMiB: 512, diskGiB: 2 }
  await sql`insert into quarantine (id, host_id, kind, thing_id, organization_id, dock_id, note, size_bytes, state,
      first_seen_at)
    values (${id}, ${host}, ${kind}, ${id}, ${server.admin.organizationId}, ${dockId},
      ${JSON.stringify({ ...note, ...size, organizationId: server.admin.organizationId })}::jsonb, 5, ${state},
      now() - ${age} * interval '1 minute')`.execute(server.database.db)
  return { id, dockId }
}
const decisionOn = async (id: string) =>
  (
    await sql<{ state: string; decidedBy: string | null }>`
      select state, decided_by as "decidedBy" from quarantine where id = ${id}`.execute(server.database.db)
  ).rows[0]
const adopt = (id: string, body = {}) => call('POST', `/api/dashboard/quarantine/${id}/adopt`, body)

describe('the quarantine', () => {
  it('lists what waits for a decision, oldest first, and says that more follows', async () => {
    const young = await quarantine({ age: 1 })
    const old = await quarantine({ age: 2, state: 'found' })
    await quarantine({ age: 3, state: 'adopted' })
    await quarantine({ age: 4, state: 'deleted' })
    expect(await list()).toMatchObject({
      items: [
        { id: old.id, state: 'found', hostname: 'found', hostId, sizeBytes: 5 },
        { id: young.id, state: 'held', dockId: young.dockId },
      ],
      hasMore: false,
    })
    await sql`insert into quarantine (id, kind, thing_id, state, first_seen_at)
      select gen_random_uuid(), 'objects', gen_random_uuid(), 'held', now() from generate_series(1, 200)`.execute(
      server.database.db,
    )
    const full = await list()
    expect([full.items.length, full.hasMore]).toEqual([200, true])
  })

  it('gives a disk back as a stopped Dock, and records which admin adopted it', async () => {
    const { id, dockId } = await quarantine()
    const { organizationId } = server.admin
    expect(await adopt(id)).toMatchObject({
      status: 200,
      data: { dockId, snapshotId: id, organizationId, isNewDock: true },
    })
    expect(await decisionOn(id)).toEqual({ state: 'adopted', decidedBy: outsider.userId })
    const { rows } = await sql<{ cause: object }>`select cause from dock_state_changes
      where dock_id = ${dockId}`.execute(server.database.db)
    expect(rows).toEqual([{ cause: { by: `user:${outsider.userId}`, through: 'api', why: 'adopted' } }])
    expect((await list()).items).toEqual([])
  })

  it('names the admin on the timeline to members of the same organization, and the operator to others', async () => {
    const actorOf = async (dockId: string) => {
      const { data } = await call('GET', `/api/dashboard/docks/${dockId}/timeline`, undefined, member)
      return routes.readDockTimeline.response.parse(data).entries[0]!.by
    }
    const foreign = await quarantine()
    await adopt(foreign.id)
    expect(await actorOf(foreign.dockId)).toEqual({ kind: 'system', name: 'Operator' })
    const own = await quarantine()
    await call('POST', `/api/dashboard/quarantine/${own.id}/adopt`, {}, member)
    expect(await actorOf(own.dockId)).toMatchObject({ kind: 'person' })
  })

  it('refuses with a sentence what cannot be adopted', async () => {
    const { id } = await quarantine()
    await adopt(id)
    expect(await adopt(id)).toMatchObject({
      status: 409,
      code: 'conflict',
      message: expect.stringContaining('adopted'),
    })
    const objects = await quarantine({ kind: 'objects' })
    expect(await adopt(objects.id)).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('cannot be adopted'),
    })
    const nobody = await quarantine()
    expect(await adopt(nobody.id, { organizationId: newUuid() })).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('does not exist'),
    })
    expect(await adopt(newUuid())).toMatchObject({ status: 404, code: 'not_found' })
    expect(await adopt('nonsense')).toMatchObject({ status: 404, code: 'not_found' })
  })

  it('deletes with an order to the host, and only what its host has confirmed', async () => {
    const remove = (id: string) => call('DELETE', `/api/dashboard/quarantine/${id}`)
    const { id } = await quarantine()
    expect(await remove(id)).toMatchObject({ status: 200, data: { removed: true } })
    expect(await decisionOn(id)).toEqual({ state: 'deleted', decidedBy: outsider.userId })
    const { rows } =
      await sql`select kind from host_orders where host_id = ${hostId} and thing_id = ${id}`.execute(
        server.database.db,
      )
    expect(rows).toEqual([{ kind: 'capture' }])
    expect(await remove(id)).toMatchObject({ status: 409, message: expect.stringContaining('deleted') })
    const found = await quarantine({ state: 'found' })
    expect(await remove(found.id)).toMatchObject({
      status: 409,
      message: expect.stringContaining('confirmed'),
    })
    expect(await remove(newUuid())).toMatchObject({ status: 404, code: 'not_found' })
  })
})

describe('a host', () => {
  it('shows its images, its warm pool and its free room', async () => {
    const online = await server.database.db
      .selectFrom('hosts')
      .select('id')
      .where('state', '=', 'online')
      .executeTakeFirstOrThrow()
    const { data } = await call('GET', `/v1/hosts/${online.id}/versions`)
    expect(routes.readHostVersions.response.parse(data)).toEqual({
      isBuilder: expect.any(Boolean),
      isEmulated: false,
      memAvailableBytes: 2 ** 40,
      diskFreeBytes: 2 ** 50,
      warmDocks: 0,
      images: ['debian-13'],
      runtimeRelease: null,
    })
    expect(await call('GET', `/v1/hosts/${newUuid()}/versions`)).toMatchObject({
      status: 404,
      code: 'host_not_found',
    })
  })

  it('shows the release of its runtime, which is old after a year, with an API key too', async () => {
    const shown = async (runtimeRelease?: object) => {
      await sql`update hosts set runtime_release = ${runtimeRelease ? JSON.stringify(runtimeRelease) : null}::jsonb
        where id = ${hostId}`.execute(server.database.db)
      const { body } = await server.call('GET', `/v1/hosts/${hostId}/versions`)
      return routes.readHostVersions.response.parse(body.data).runtimeRelease
    }
    const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
    const release = { version: '20240729.0', source: 'the package of Debian trixie' }
    expect(await shown()).toBeNull()
    for (const [days, isOld] of [
      [364, false],
      [367, true],
    ] as const)
      expect(await shown({ ...release, releasedAt: daysAgo(days) })).toEqual({
        ...{ ...release, releasedAt: daysAgo(days), isOld },
      })
  })

  it('is tested with a machine like a new Dock, and says why it cannot be', async () => {
    const test = (id: string) => call('POST', `/v1/hosts/${id}/self-test`)
    const { id } = await server.database.db
      .selectFrom('hosts')
      .select('id')
      .where('state', '=', 'online')
      .executeTakeFirstOrThrow()
    const { data } = await test(id)
    expect(routes.testHost.response.parse(data)).toMatchObject({
      ...{ hostId: id, runtime: 'gvisor', image: 'debian-13' },
    })
    server.host.failures.set('testRuntime', ['failed', 'busy', 'lost'])
    expect(await test(id)).toMatchObject({
      status: 503,
      message: expect.stringMatching(/^The test failed: the test asked/),
    })
    expect(await test(id)).toMatchObject({ status: 409, code: 'conflict' })
    expect(await test(id)).toMatchObject({
      status: 503,
      message: expect.stringMatching(/^The host cannot be reached/),
    })
    expect(await test(hostId)).toMatchObject({ status: 503, code: 'service_unavailable' })
    for (const none of [newUuid(), 'none']) expect(await test(none)).toMatchObject({ code: 'host_not_found' })
  })
})
