/** What the organization's own log tells of its plan and limits, which instance admins and operators set. */
import { createLogger, newUuid, systemClock } from '@dock/foundation'
import { addPerson, recordedDuring, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { setLimits } from '../limits/index.ts'
import { setPlan } from './index.ts'

const prices = { vcpuSecond: '10', memoryGiBSecond: '1', diskGiBMonth: '1', snapshotGiBMonth: '1' }
const plan = { concurrentDocks: 1, concurrentFastRuns: 0, monthlyBudget: 1_000_000, prices }
const plans = { currency: 'EUR', plans: ['small', 'large'].map((name) => ({ name, ...plan })) }

let server: TestControlPlane
let session: { cookie: string }
let organizationId: string
let adminId: string
let target: object
beforeAll(async () => {
  server = await startTestControlPlane({
    environment: { DOCK_BILLING: 'on', DOCK_PLANS: JSON.stringify(plans) },
  })
  session = await server.signIn()
  const owner = await addPerson(server)
  const made = await server.call('POST', '/v1/organizations', { name: 'Pays' }, owner.apiKey)
  organizationId = (made.body.data as { id: string }).id
  adminId = ((await server.call('GET', '/v1/me')).body.data as { id: string }).id
  target = { type: 'organization', id: organizationId, name: 'Pays' }
})
afterAll(() => server.stop())

const ask = async (method: string, rest: string, body: object, organization = organizationId) => {
  const response = await server.fetch(`/v1/organizations/${organization}/${rest}`, {
    method,
    headers: { ...session, origin: server.config.apiUrl, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return ((await response.json()) as { code?: string }).code
}
const during = (act: () => Promise<unknown>) => recordedDuring(server.database, act)
const entry = (action: string, details: object, by: object = { actorId: adminId, through: 'session' }) => [
  expect.objectContaining({ action, organizationId, target, details, copies: [], ...by }) as unknown,
]
const operator = { actorId: null, through: 'operator', credentialId: null, address: null }

it('the plan, by an instance admin and by an operator', async () => {
  const { db } = server.database
  const put = (body: object, organization?: string) => ask('PUT', 'plan', body, organization)
  const byOperator = (name: string) =>
    setPlan({ db, clock: systemClock, logger: createLogger('test'), accounts: null }, organizationId, name)
  const changed = 'organization.plan_changed'
  expect(await during(() => put({ plan: 'small' }))).toEqual(
    entry(changed, { from: null, to: 'small', active: true }),
  )
  expect(await during(() => put({ plan: 'small' }))).toEqual([])
  expect(await during(() => put({ plan: 'small', active: false }))).toEqual(
    entry(changed, { from: 'small', to: 'small', active: false }),
  )
  expect(await during(() => byOperator('large'))).toEqual(
    entry(changed, { from: 'small', to: 'large', active: true }, operator),
  )
  expect(await during(() => put({ plan: null }))).toEqual(entry(changed, { from: 'large', to: null }))
  expect(
    await during(async () => {
      expect(await put({ plan: 'none of them' })).toBe('validation_error')
      expect(await put({ plan: 'small' }, newUuid())).toBe('organization_not_found')
      await expect(byOperator('none of them')).rejects.toThrow('plan: must be one of')
    }),
  ).toEqual([])
})

it('the limits that got another value, by an instance admin and by an operator', async () => {
  const operatorContext = { db: server.database.db, clock: systemClock }
  const patch = (body: object, organization?: string) => ask('PATCH', 'limits', body, organization)
  const changed = 'organization.limits_changed'
  expect(await during(() => patch({ docks: 5, cpus: 8 }))).toEqual(
    entry(changed, { docks: 5, docksBefore: null, cpus: 8, cpusBefore: null }),
  )
  expect(await during(() => patch({ docks: 5 }))).toEqual([])
  const byOperator = (...changes: string[]) => setLimits(operatorContext, organizationId, changes)
  expect(await during(() => byOperator('docks=7', 'cpus=default'))).toEqual(
    entry(changed, { docks: 7, docksBefore: 5, cpus: null, cpusBefore: 8 }, operator),
  )
  expect(await during(() => byOperator())).toEqual([])
  expect(
    await during(async () => expect(await patch({ docks: 1 }, newUuid())).toBe('organization_not_found')),
  ).toEqual([])
})
