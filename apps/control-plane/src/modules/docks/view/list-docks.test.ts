/** Paging of GET /v1/docks, and of Snapshots in several organizations, over HTTP. */
import { type Dock, routes, type Snapshot } from '@dock/contract'
import {
  addPerson,
  type ControlPlaneWithHost,
  startControlPlaneWithHost,
  type TestPerson,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'

let server: ControlPlaneWithHost
let person: TestPerson
let organizations: string[]
const count = 1_050

/** Inserts many copies of a Dock, alternating between the organizations, each created 1 ms after the previous one. */
const manyDocks = async (dockId: string): Promise<void> => {
  await sql`insert into docks (id, organization_id, workspace_id, name, image, cpus, memory_mib, disk_gib, runtime, state,
      state_changed_at, generation, environment, no_env, placed, has_disk, setup_status, created_by, created_at, updated_at)
    select gen_random_uuid(), w.organization_id, w.id, 'many-' || n, d.image, d.cpus, d.memory_mib, d.disk_gib, d.runtime,
      case when n % 5 = 0 then 'archived' else 'error' end, d.state_changed_at, 1, d.environment, d.no_env, false, false,
      d.setup_status, d.created_by, date_trunc('milliseconds', d.created_at) + n * interval '1 ms', d.updated_at
    from generate_series(1, ${count}::int) n
    join workspaces w on w.organization_id = (${organizations}::uuid[])[1 + n % 3]
    cross join docks d where d.id = ${dockId}`.execute(server.database.db)
}

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  person = await addPerson(server)
  organizations = []
  for (const name of ['One', 'Two', 'Three']) {
    const made = await server.call('POST', '/v1/organizations', { name }, person.apiKey)
    organizations.push((made.body.data as { id: string }).id)
  }
  await manyDocks(await server.addDock())
})
afterAll(() => server.stop())

const list = async (query: string, key = person.apiKey) => {
  const response = await server.fetch(`/v1/docks${query}`, { headers: { authorization: `Bearer ${key}` } })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toContain('application/json')
  const chunks: string[] = []
  const decoder = new TextDecoder()
  for await (const chunk of response.body!) chunks.push(decoder.decode(chunk, { stream: true }))
  const body = JSON.parse(chunks.join('')) as { ok: true; data: Dock[] }
  routes.listDocks.response.parse(body.data)
  return { docks: body.data, longest: Math.max(...chunks.map(({ length }) => length)), chunks: chunks.length }
}

it('lists every Dock of all organizations once, newest first, in pages', async () => {
  const { docks, longest, chunks } = await list('?all=true')
  expect(docks.map(({ name }) => name)).toEqual(Array.from({ length: count }, (_, n) => `many-${count - n}`))
  expect(chunks).toBeGreaterThan(5)
  expect(longest).toBeLessThan(200_000)
})

it('lists by state across pages', async () => {
  const { docks } = await list('?filter=s')
  expect(docks).toHaveLength(count / 5)
  expect(docks.every(({ state }) => state === 'archived')).toBe(true)
})

it('lists nothing for a user without Docks, and a short list in one page', async () => {
  const nobody = await addPerson(server)
  expect(await list('?all=true', nobody.apiKey)).toMatchObject({ docks: [], chunks: 1 })
  const first = await list('?all=true', server.admin.apiKey)
  expect(first).toMatchObject({ chunks: 1 })
  expect(first.docks).toHaveLength(1)
})

it('pages through the Snapshots of several organizations, newest first', async () => {
  await sql`insert into snapshots (id, dock_id, organization_id, status, disk_gib, created_at)
    select gen_random_uuid(), id, organization_id, 'completed', 1, created_at from docks where name like 'many-%'`.execute(
    server.database.db,
  )
  const seen: Snapshot[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = `limit=100${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
    const answer = await server.call('GET', `/v1/snapshots?${query}`, undefined, person.apiKey)
    const page = routes.listSnapshots.response.parse(answer.body.data)
    seen.push(...page.snapshots)
    cursor = page.nextCursor
  }
  expect(new Set(seen.map(({ id }) => id)).size).toBe(count)
  const times = seen.map(({ createdAt }) => createdAt)
  expect(times).toEqual([...times].sort().reverse())
  const own = await server.call('GET', '/v1/snapshots', undefined, server.admin.apiKey)
  expect(own.body.data).toMatchObject({ snapshots: [] })
})
