/** Plans, the gate that they open, and what a member reads of the usage. */
import { routes } from '@dock/contract'
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { setMeteringTime, useVirtualMetering } from '@dock/testkit/src/billing/virtual-metering.ts'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createBillingModule } from './module.ts'
import type { PlanFile } from './plan-file.ts'
import { setPlan } from './set-plan.ts'

const prices = { vcpuSecond: '10', memoryGiBSecond: '1', diskGiBMonth: '100000', snapshotGiBMonth: '50000' }
const plans: PlanFile = {
  currency: 'EUR',
  plans: [
    { name: 'small', concurrentDocks: 1, concurrentFastRuns: 0, monthlyBudget: 1_000_000, prices },
    { name: 'large', concurrentDocks: 3, concurrentFastRuns: null, monthlyBudget: 100_000_000, prices },
  ],
}

let server: ControlPlaneWithHost
let session: { cookie: string }
beforeAll(async () => {
  server = await startControlPlaneWithHost({
    environment: { DOCK_BILLING: 'on', DOCK_PLANS: JSON.stringify(plans) },
  })
  // The tests do by themselves what its timers would do.
  server.controlPlane.billing.stop()
  session = await server.signIn()
})
afterAll(() => server.stop())
beforeEach(() => useVirtualMetering(server.database.db, new Date('2026-03-10T12:00:00Z')))

const ownedOrganization = async () => {
  const owner = await addPerson(server)
  const ask = async (method: string, path: string, body?: unknown) => {
    const { body: answer } = await server.call(method, path, body, owner.apiKey)
    return answer.ok ? answer.data : answer.code
  }
  const { id } = (await ask('POST', '/v1/organizations', { name: 'Pays' })) as { id: string }
  const [workspace] = (await ask('GET', `/v1/organizations/${id}/workspaces`)) as [{ id: string }]
  const create = async (): Promise<string> => {
    const made = await ask('POST', '/v1/docks', {
      workspaceId: workspace.id,
      cpus: 2,
      memoryMiB: 1024,
      diskGiB: 31,
    })
    return typeof made === 'string' ? made : (made as { id: string }).id
  }
  const usage = async (query = '') =>
    routes.readOrganizationUsage.response.parse(await ask('GET', `/v1/organizations/${id}/usage${query}`))
  return { id, owner, ask, create, usage }
}

const putPlan = async (organizationId: string, body: unknown, { cookie } = session) => {
  const response = await server.fetch(`/v1/organizations/${organizationId}/plan`, {
    method: 'PUT',
    headers: { cookie, origin: server.config.apiUrl, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as { ok: boolean; code?: string; message?: string; data?: unknown }
}
const uuid = /^[0-9a-f-]{36}$/

it('opens the gate with a plan, and lifts each refusal at once', async () => {
  const { db } = server.database
  const { id, create, ask } = await ownedOrganization()
  expect(await create()).toBe('subscription_required')
  expect(await putPlan(id, { plan: 'small', active: false })).toMatchObject({ ok: true })
  expect(await create()).toBe('subscription_required')
  await putPlan(id, { plan: 'small' })
  expect(await create()).toMatch(uuid)
  expect(await create()).toBe('concurrency_exceeded')
  await putPlan(id, { plan: 'large' })
  const second = await create()
  expect(second).toMatch(uuid)
  // Two Docks cost 2 * (20 + 1) micro-units a second, and their disks.
  await setMeteringTime(db, new Date('2026-03-11T12:00:00Z'))
  await putPlan(id, { plan: 'small' })
  await ask('POST', `/v1/docks/${second}/stop`, {})
  expect(await create()).toBe('budget_exceeded')
  await putPlan(id, { plan: 'large' })
  expect(await create()).toMatch(uuid)
  await setMeteringTime(db, new Date('2026-03-25T12:00:00Z'))
  await server.controlPlane.billing.ledger.refresh()
  await putPlan(id, { plan: 'small' })
  expect(await create()).toBe('budget_exceeded')
  // A new month has a budget of its own.
  await setMeteringTime(db, new Date('2026-04-01T00:00:00Z'))
  expect(await create()).toBe('concurrency_exceeded')
  await putPlan(id, { plan: null })
  expect(await create()).toBe('subscription_required')
})

it('lets only the session of an instance admin set a plan, and only one of the file', async () => {
  const { id, owner } = await ownedOrganization()
  expect(await putPlan(id, { plan: 'small' }, owner)).toMatchObject({ code: 'instance_admin_required' })
  const withKey = await server.call('PUT', `/v1/organizations/${id}/plan`, { plan: 'small' })
  expect(withKey.body.code).toBe('session_required')
  expect(await putPlan(id, { plan: 'huge' })).toMatchObject({
    code: 'validation_error',
    message: "plan: must be one of the operator's plans: large, small.",
  })
  const set = await putPlan(id, { plan: 'small' })
  expect(routes.setOrganizationPlan.response.parse(set.data)).toEqual({
    plan: {
      name: 'small',
      currency: 'EUR',
      concurrentDocks: 1,
      concurrentFastRuns: 0,
      monthlyBudgetMicros: 1_000_000,
    },
    active: true,
  })
  expect(await putPlan(server.admin.workspaceId, { plan: 'small' })).toMatchObject({
    code: 'organization_not_found',
  })
})

it('shows a member what was used, by day and by Dock, with open days and closed ones alike', async () => {
  const { db } = server.database
  const { id, create, usage, ask } = await ownedOrganization()
  await putPlan(id, { plan: 'large' })
  await setMeteringTime(db, new Date('2026-03-10T23:59:50Z'))
  const [first, second] = [await create(), await create()]
  await setMeteringTime(db, new Date('2026-03-11T00:01:40Z'))
  await ask('POST', `/v1/docks/${second}/stop`, { force: true })
  const day = (seconds: number) => ({
    vcpuSeconds: 4 * seconds,
    memoryMiBSeconds: 2048 * seconds,
    diskGiBSeconds: 62 * seconds,
    snapshotMiBSeconds: 0,
    // A GiB costs its price in a month of 31 days: 62 GiB cost 2.314814… micro-units a second.
    costMicros: 42 * seconds + Math.floor((62 * 100_000 * seconds) / (31 * 86_400)),
  })
  const days = [
    { day: '2026-03-10', closed: false, ...day(10) },
    { day: '2026-03-11', closed: false, ...day(100) },
  ]
  const open = await usage()
  expect(open).toMatchObject({ month: '2026-03', closedUntil: '2026-03-10', currency: 'EUR', days })
  expect(open.total).toEqual({ ...day(110), costMicros: day(10).costMicros + day(100).costMicros })
  await expect
    .poll(async () => {
      await server.controlPlane.billing.ledger.close()
      return (await usage()).days
    })
    .toEqual([{ ...days[0], closed: true }, days[1]])
  const ofDock = await usage(`?month=2026-03&dockId=${second}`)
  expect(ofDock.days.map(({ vcpuSeconds, costMicros }) => [vcpuSeconds, costMicros])).toEqual([
    [20, 210 + 11],
    [200, 2100 + 115],
  ])
  // Other prices do not change a closed day.
  await putPlan(id, { plan: null })
  expect((await usage()).days.map(({ costMicros }) => costMicros)).toEqual([day(10).costMicros, 0])
  expect(await ask('DELETE', `/v1/docks/${first}`)).toBe('confirm_required')
  expect((await usage('?month=2026-02')).days).toEqual([])
  expect(await ask('GET', `/v1/organizations/${id}/usage?month=2026-13`)).toBe('validation_error')
  const stranger = await ownedOrganization()
  expect(await stranger.ask('GET', `/v1/organizations/${id}/usage`)).toBe('organization_not_found')
  expect((await stranger.usage(`?dockId=${first}`)).days).toEqual([])
})

it('keeps a plan that left the file for the organizations that have it', async () => {
  const [has, hasNot] = [await ownedOrganization(), await ownedOrganization()]
  await putPlan(has.id, { plan: 'small' })
  const { logger } = server.controlPlane.docks.context
  const start = async (file: PlanFile | undefined) => {
    const billing = createBillingModule({
      ...server.controlPlane.docks.context,
      logger,
      plans: file,
      provider: undefined,
    })
    await billing.start()
    billing.stop()
  }
  await start({ ...plans, plans: plans.plans.slice(1) })
  expect(await putPlan(hasNot.id, { plan: 'small' })).toMatchObject({ code: 'validation_error' })
  expect(await putPlan(has.id, { plan: 'small' })).toMatchObject({ ok: true })
  expect(await has.create()).toMatch(uuid)
  await start(plans)
  expect(await putPlan(hasNot.id, { plan: 'small' })).toMatchObject({ ok: true })
  expect(await setPlan(server.controlPlane.billing.context, hasNot.id, undefined)).toBe(
    'plan            small\nlive Docks      1\nmonthly budget  1000000 micro-units of EUR\nplans: large, small',
  )
  expect(await setPlan(server.controlPlane.billing.context, hasNot.id, 'none')).toBe(
    'no plan\nplans: large, small',
  )
  await expect(setPlan(server.controlPlane.billing.context, hasNot.id, 'huge')).rejects.toThrow(
    "one of the operator's plans: large, small",
  )
  await expect(setPlan(server.controlPlane.billing.context, 'nobody', 'large')).rejects.toThrow(
    'no organization with the slug or id nobody',
  )
})
