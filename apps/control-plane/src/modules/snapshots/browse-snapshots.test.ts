/** Folders and differences of Snapshots, their list, and the list of Templates, over HTTP in a session. */
import { routes } from '@dock/contract'
import {
  addPerson,
  type ControlPlaneWithHost,
  startControlPlaneWithHost,
  type TestPerson,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let server: ControlPlaneWithHost
let session: { cookie: string; origin: string }
let outsider: TestPerson
let dockId: string
/** Two Snapshots of the Dock, the older one first. */
let ids: string[]

const read = async (path: string, headers: Record<string, string> = session) => {
  const response = await server.fetch(path, { headers })
  return { status: response.status, body: (await response.json()) as { code?: string; data?: unknown } }
}

const post = (path: string, body: unknown) =>
  server.fetch(path, {
    method: 'POST',
    headers: { ...session, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  session = await server.signIn()
  outsider = await addPerson(server)
  dockId = await server.addDock()
  for (let count = 0; count < 2; count++)
    expect((await post(`/v1/docks/${dockId}/branch`, {})).status).toBe(201)
  const { body } = await read(`/api/dashboard/snapshots?dockId=${dockId}`)
  ids = routes.searchSnapshots.response
    .parse(body.data)
    .snapshots.map(({ id }) => id)
    .reverse()
})
afterAll(() => server.stop())

describe('the list', () => {
  it('has the name of the Dock, and when the copy was last proven', async () => {
    await sql`insert into copies (id, organization_id, snapshot_id, lease_owner, lease_until, created_at, disk_bytes,
        index_parts, added_bytes, verified_at, drilled_at)
      select gen_random_uuid(), organization_id, id, 'x', now(), now(), 1, 0, 0, now() - interval '2 days', '2026-01-02Z'
      from snapshots where id = ${ids[1]}`.execute(server.database.db)
    const { body } = await read(`/api/dashboard/snapshots?dockId=${dockId}`)
    const { snapshots } = routes.searchSnapshots.response.parse(body.data)
    expect(snapshots.map(({ copy }) => copy)).toEqual([
      { provenAt: '2026-01-02T00:00:00.000Z', damagedAt: null },
      null,
    ])
  })

  it('is that of one organization if it is asked for one', async () => {
    const of = async (organizationId: string) => {
      const { body } = await read(`/api/dashboard/snapshots?organizationId=${organizationId}`)
      return routes.searchSnapshots.response.parse(body.data).snapshots.map(({ id }) => id)
    }
    expect(await of(server.admin.organizationId)).toEqual(ids.toReversed())
    expect(await of('00000000-0000-4000-8000-000000000000')).toEqual([])
  })

  it('pages without a gap, and shows nothing to a person outside', async () => {
    const seen: string[] = []
    let query: string | null = '?limit=1'
    while (query !== null) {
      const { body } = await read(`/api/dashboard/snapshots${query}`)
      const page = routes.searchSnapshots.response.parse(body.data)
      seen.push(...page.snapshots.map(({ id }) => id))
      query = page.nextCursor && `?limit=1&cursor=${encodeURIComponent(page.nextCursor)}`
    }
    expect(seen).toEqual(ids.toReversed())
    const { body } = await read('/api/dashboard/snapshots', { cookie: outsider.cookie })
    expect(body.data).toEqual({ snapshots: [], nextCursor: null })
  })
})

describe('one Snapshot', () => {
  it('is described as in the list, and a person outside does not find it', async () => {
    const { body: list } = await read(`/api/dashboard/snapshots?dockId=${dockId}`)
    const { snapshots } = routes.searchSnapshots.response.parse(list.data)
    const { body } = await read(`/api/dashboard/snapshots/${ids[1]}`)
    expect(routes.readListedSnapshot.response.parse(body.data)).toEqual(snapshots[0])
    const foreign = await read(`/api/dashboard/snapshots/${ids[1]}`, { cookie: outsider.cookie })
    expect([foreign.status, foreign.body.code]).toEqual([404, 'snapshot_not_found'])
  })
})

describe('a folder', () => {
  it('is listed, and another path is not found', async () => {
    const { body } = await read(`/api/dashboard/snapshots/${ids[0]}/folder?path=/etc`)
    expect(routes.listSnapshotFolder.response.parse(body.data).entries).toMatchObject([{ name: 'hostname' }])
    expect((await read(`/api/dashboard/snapshots/${ids[0]}/folder?path=/none`)).body.code).toBe(
      'snapshot_not_found',
    )
  })
})

describe('the comparison', () => {
  const compare = (id: string, to: string, headers?: Record<string, string>) =>
    read(`/api/dashboard/snapshots/${id}/diff/${to}`, headers)

  it('tells what differs', async () => {
    const { body } = await compare(ids[0]!, ids[1]!)
    expect(routes.compareSnapshots.response.parse(body.data)).toMatchObject({
      changes: [{ path: '/etc/hostname', differences: ['added'] }],
      nextCursor: null,
    })
  })

  it('refuses a cursor that the host cannot read', async () => {
    const { status, body } = await compare(ids[0]!, `${ids[1]!}?cursor=made-up`)
    expect([status, body.code]).toEqual([400, 'validation_error'])
  })

  it('finds neither side if the caller may not see it', async () => {
    const foreign = { cookie: outsider.cookie }
    for (const [id, to] of [
      [ids[0]!, ids[1]!],
      [ids[1]!, ids[0]!],
    ])
      expect((await compare(id!, to!, foreign)).body.code).toBe('snapshot_not_found')
    const absent = '5f0d2b0e-6f0c-4c59-9a49-0a8a1d1f4a11'
    expect((await compare(ids[0]!, absent)).body.code).toBe('snapshot_not_found')
  })

  it('finds neither side in another organization, also if the caller is a member of both', async () => {
    // The other Snapshot moves into an organization of its own. The caller is a member of both.
    const made = await post('/v1/organizations', { name: 'second' })
    const { data } = (await made.json()) as { data: { id: string } }
    await sql`update docks set organization_id = ${data.id} where id = ${dockId}`.execute(server.database.db)
    await sql`update snapshots set organization_id = ${data.id} where id = ${ids[1]}`.execute(
      server.database.db,
    )
    expect((await compare(ids[0]!, ids[1]!)).body.code).toBe('snapshot_not_found')
  })
})

/** Last: the tests above count all Snapshots. */
describe('a Snapshot', () => {
  it('says which Snapshot is as after a power cut, however it was made', async () => {
    const other = await server.addDock()
    const marks = async () => {
      const { body } = await read(`/api/dashboard/snapshots?dockId=${other}`)
      return routes.searchSnapshots.response
        .parse(body.data)
        .snapshots.map(({ afterPowerCut }) => afterPowerCut)
        .reverse()
    }
    expect((await post(`/v1/docks/${other}/branch`, {})).status).toBe(201)
    server.host.capturesPowerCuts = true
    expect((await post(`/v1/docks/${other}/branch`, {})).status).toBe(201)
    expect((await post('/v1/templates', { dockId: other, name: 'cut' })).status).toBe(202)
    expect((await post(`/v1/docks/${other}/stop`, {})).status).toBe(202)
    await expect.poll(marks).toEqual([false, true, true, true])
    server.host.capturesPowerCuts = false
  })
})
