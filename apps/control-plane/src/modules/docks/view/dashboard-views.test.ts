/** Search, timeline and series of Docks, over HTTP in a session. */
import { limits, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  type ControlPlaneWithHost,
  startControlPlaneWithHost,
  type TestPerson,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prepareUsageDay } from '../usage/usage-store.ts'

let server: ControlPlaneWithHost
let session: { cookie: string; origin: string }
let outsider: TestPerson
let dockId: string
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  session = await server.signIn()
  outsider = await addPerson(server)
  dockId = await server.addDock()
})
afterAll(() => server.stop())

const read = async (path: string, headers: Record<string, string> = session) => {
  const response = await server.fetch(path, { headers })
  return { status: response.status, body: (await response.json()) as { code?: string; data?: unknown } }
}

describe('the search', () => {
  const search = async (query: string) => {
    const { status, body } = await read(`/api/dashboard/docks?${query}`)
    expect([status, body.code]).toEqual([200, undefined])
    return routes.searchDocks.response.parse(body.data)
  }
  beforeAll(async () => {
    await sql`insert into docks (id, organization_id, workspace_id, name, image, cpus, memory_mib, disk_gib, runtime, state,
        state_changed_at, generation, environment, no_env, placed, has_disk, setup_status, created_by, created_at, updated_at)
      select gen_random_uuid(), organization_id, workspace_id, 'many_' || n, image, cpus, memory_mib, disk_gib, runtime,
        'archived', state_changed_at, 1, environment, no_env, false, false, setup_status, created_by,
        created_at - (n % 40) * interval '1 second', updated_at
      from docks cross join generate_series(1, 250) n where id = ${dockId}`.execute(server.database.db)
  })

  it('pages through all Docks, each once, newest first', async () => {
    const seen: string[] = []
    const times: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Awaited<ReturnType<typeof search>> = await search(
        `limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      seen.push(...page.docks.map(({ id }) => id))
      times.push(...page.docks.map(({ createdAt }) => createdAt))
      cursor = page.nextCursor
    }
    expect(new Set(seen).size).toBe(251)
    expect(seen).toHaveLength(251)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  it('finds by a part of the name, literally, and by id', async () => {
    expect((await search('q=MANY_25')).docks.map(({ name }) => name)).toContain('many_25')
    expect((await search('q=many%2525')).docks).toEqual([])
    expect((await search(`q=${dockId}`)).docks).toMatchObject([
      { id: dockId, createdBy: { id: expect.any(String), name: expect.any(String) } },
    ])
  })

  it('filters by state and by creator', async () => {
    expect((await search('states=ready,idle,running')).docks.map(({ id }) => id)).toEqual([dockId])
    expect((await search(`createdBy=${outsider.userId}`)).docks).toEqual([])
    expect((await read('/api/dashboard/docks?states=asleep')).status).toBe(400)
    expect((await read('/api/dashboard/docks?cursor=x')).status).toBe(400)
  })

  it('reads some Docks by their ids, as far as they match', async () => {
    const found = async (query: string) => (await search(query)).docks.map(({ id }) => id)
    const ids = `ids=${dockId},${newUuid()}`
    expect(await found(ids)).toEqual([dockId])
    expect(await found(`${ids}&states=archived`)).toEqual([])
    expect((await read('/api/dashboard/docks?ids=x')).status).toBe(400)
    const tooMany = Array.from({ length: limits.dashboard.searchedIdsMax + 1 }, () => dockId).join(',')
    expect((await read(`/api/dashboard/docks?ids=${tooMany}`)).status).toBe(400)
  })

  it('shows nothing to a person outside', async () => {
    const { body } = await read('/api/dashboard/docks', { cookie: outsider.cookie })
    expect(body.data).toEqual({ docks: [], nextCursor: null })
  })
})

describe('the timeline', () => {
  const timeline = async (query = '') => {
    const { status, body } = await read(`/api/dashboard/docks/${dockId}/timeline${query}`)
    expect([status, body.code]).toEqual([200, undefined])
    return routes.readDockTimeline.response.parse(body.data)
  }

  it('tells who made the Dock, and what ended for memory, newest first', async () => {
    await sql`insert into dock_memory_shortages (dock_id, generation, process, count, at)
      values (${dockId}, 1, 'hog', 3, now() + interval '1 minute')`.execute(server.database.db)
    const { entries } = await timeline()
    expect(entries[0]).toMatchObject({ kind: 'memory', process: 'hog', count: 3, why: 'out_of_memory' })
    expect(entries.at(-1)).toMatchObject({
      kind: 'state',
      fromState: null,
      by: { kind: 'person', name: expect.any(String) },
      through: 'api',
      why: 'create',
    })
  })

  it('pages without a gap', async () => {
    const whole = await timeline()
    const pieces: string[] = []
    let query: string | null = '?limit=1'
    while (query !== null) {
      const page: Awaited<ReturnType<typeof timeline>> = await timeline(query)
      pieces.push(...page.entries.map(({ id }) => id))
      query = page.nextCursor && `?limit=1&cursor=${page.nextCursor}`
    }
    expect(pieces).toEqual(whole.entries.map(({ id }) => id))
    expect((await read(`/api/dashboard/docks/${dockId}/timeline?cursor=1.other.2`)).status).toBe(400)
  })
})

it('the series has the averages of each step', async () => {
  const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000 - 120_000)
  await prepareUsageDay(server.database.db, minute)
  await sql`insert into dock_usage select ${dockId}, ${minute}, 2, 100, 90, 20, 20, 40, 20, 60, 30, 8, 4, 10, 5`.execute(
    server.database.db,
  )
  const { body } = await read(`/api/dashboard/docks/${dockId}/series?window=1h`)
  const { points } = routes.readDockSeries.response.parse(body.data)
  expect(points.find(({ at }) => at === minute.toISOString())).toEqual({
    at: minute.toISOString(),
    cpuPercent: 50,
    memBytes: 10,
    memLimit: 20,
    diskBytes: 30,
    rxBytes: 4,
    txBytes: 5,
  })
  const day = await read(`/api/dashboard/docks/${dockId}/series?window=24h`)
  expect(routes.readDockSeries.response.parse(day.body.data).stepSeconds).toBe(600)
})
