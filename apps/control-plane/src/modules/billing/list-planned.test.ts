import { routes } from '@dock/contract'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'

const plan = {
  name: 'small',
  concurrentDocks: 2,
  concurrentFastRuns: 1,
  monthlyBudget: null,
  prices: { vcpuSecond: '1', memoryGiBSecond: '1', diskGiBMonth: '1', snapshotGiBMonth: '1' },
}
let server: TestControlPlane
let session: { cookie: string; origin: string }
beforeAll(async () => {
  server = await startTestControlPlane({
    environment: { DOCK_BILLING: 'on', DOCK_PLANS: JSON.stringify({ currency: 'EUR', plans: [plan] }) },
  })
  session = await server.signIn()
  await sql`insert into organizations (id, name, slug, created_at)
    select gen_random_uuid(), 'Many ' || n, 'many-' || n, now() + (n % 7) * interval '1 second'
    from generate_series(1, 60) n`.execute(server.database.db)
})
afterAll(() => server.stop())

const list = async (query = '') => {
  const response = await server.fetch(`/api/dashboard/plans${query}`, { headers: session })
  const { data } = (await response.json()) as { data: unknown }
  return routes.listPlannedOrganizations.response.parse(data)
}

it('pages through all organizations, each once, newest first', async () => {
  const seen: string[] = []
  let query: string | null = '?limit=25'
  while (query !== null) {
    const page: Awaited<ReturnType<typeof list>> = await list(query)
    seen.push(...page.organizations.map(({ slug }) => slug))
    query = page.nextCursor && `?limit=25&cursor=${encodeURIComponent(page.nextCursor)}`
  }
  expect(seen).toHaveLength(61)
  expect(new Set(seen).size).toBe(61)
  expect(seen.slice(0, 8).every((slug) => Number(slug.slice(5)) % 7 === 6)).toBe(true)
})

it('finds by a part of the name, literally, or by the slug', async () => {
  const found = async (q: string) => (await list(`?q=${encodeURIComponent(q)}`)).organizations.length
  expect(await found('mANY 6')).toBe(2)
  expect(await found('many-60')).toBe(1)
  expect(await found('%')).toBe(0)
})

it('shows the plan of an organization, and the plans that can be given', async () => {
  const { organizationId } = server.admin
  expect((await list()).plans).toMatchObject([{ name: 'small', concurrentDocks: 2, currency: 'EUR' }])
  await server.fetch(`/v1/organizations/${organizationId}/plan`, {
    method: 'PUT',
    headers: { ...session, 'content-type': 'application/json' },
    body: JSON.stringify({ plan: 'small' }),
  })
  const all = await list('?limit=100')
  expect(all.organizations.find(({ id }) => id === organizationId)).toMatchObject({
    plan: 'small',
    active: true,
    liveDocks: 0,
    spentMicros: 0,
  })
})

it('refuses a cursor that is none', async () => {
  const response = await server.fetch('/api/dashboard/plans?cursor=x', { headers: session })
  expect(response.status).toBe(400)
})
