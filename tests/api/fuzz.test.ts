/**
 * Sends requests generated from the OpenAPI document, half of them invalid. No request may cause an internal error, a
 * status or code that the document does not list, or a response that breaks its schema. `script/prove fuzz` sends more.
 */
import { openApiDocument, type RouteName, routes } from '@dock/contract'
import { addPerson, startControlPlaneWithHost, type TestPerson } from '@dock/testkit'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { judge } from './support/fuzz/judge.ts'
import { type FuzzRequest, requestsOf } from './support/fuzz/requests.ts'
import { readText } from './support/read-text.ts'
import { missingRows, resourceIdOf } from './support/request.ts'
import { resources } from './support/resources.ts'
import { makeTenant, type Tenant } from './support/tenant.ts'

const count = Number(process.env.DOCK_FUZZ_REQUESTS ?? '1000')
const seed = Number(process.env.DOCK_FUZZ_SEED ?? '20261')
/** Routes that make the tenant unusable. After one of them, requests go to a new tenant. */
const ending = new Set<RouteName>([
  'deleteOrganization',
  'closeAccount',
  'eraseAccount',
  'deleteDock',
  'stopDock',
])
/** Requests to a tenant before it is replaced. */
const perTenant = 50
const printedMax = 20

/** Errors logged by the control plane, by request id. */
const logged = new Map<string, string>()
const server = await startControlPlaneWithHost({
  confinesProcesses: true,
  logTo: (line) => {
    const entry = JSON.parse(line) as { level: number; requestId?: string; err?: { stack?: string } }
    if (entry.level >= 50 && entry.requestId) logged.set(entry.requestId, entry.err?.stack ?? line)
  },
})
const stranger = await makeTenant(server)
afterAll(() => server.stop())

const names = Object.keys(routes) as RouteName[]
const built = new Set(
  names.filter(
    (name) => name in server.controlPlane.handlers && missingRows(name, routes[name]).length === 0,
  ),
)

const ids = (tenant: Tenant): Record<string, string> => ({
  organizationId: tenant.organizationId,
  workspaceId: tenant.workspaceId,
  dockId: tenant.dockId,
  dockIds: tenant.dockId,
  userId: tenant.member.userId,
  folder: fakeProcessFolder(),
})

/** Replaces placeholders such as `@dockId@` with ids of the tenant's resources. */
const fillIn = async (tenant: Tenant, text: string, encode = (id: string) => id): Promise<string> => {
  let result = text
  for (const [place, name = ''] of text.matchAll(/@([A-Za-z0-9/:_-]+)@/g)) {
    const id =
      name in resources ? await resourceIdOf(server, tenant, name).catch(() => name) : ids(tenant)[name]
    if (id !== undefined) result = result.replace(place, () => encode(id))
  }
  return result
}

/** The people who send the requests. */
type Senders = { tenant: Tenant; instanceAdmin: TestPerson }

const createSenders = async (): Promise<Senders> => ({
  tenant: await makeTenant(server),
  instanceAdmin: await addPerson(server, { instanceAdmin: true }),
})

const headersOf = (request: FuzzRequest, { tenant, instanceAdmin }: Senders): [string, string][] => {
  const key = (text: string): [string, string][] => [['authorization', `Bearer ${text}`]]
  switch (request.sender) {
    case 'owner':
      return key(tenant.owner.apiKey)
    case 'owner-session':
      return [
        ['cookie', tenant.owner.cookie],
        ['sec-fetch-site', 'same-origin'],
      ]
    case 'member':
      return key(tenant.member.apiKey)
    case 'stranger':
      return key(stranger.owner.apiKey)
    case 'instance-admin':
      return [
        ['cookie', instanceAdmin.cookie],
        ['sec-fetch-site', 'same-origin'],
      ]
    case 'nobody':
      return []
    case 'nonsense':
      return key('dock_nonsense')
  }
}

const send = async (request: FuzzRequest, senders: Senders): Promise<Response> => {
  const { tenant } = senders
  const query = new URLSearchParams()
  for (const [name, text] of request.query) query.append(name, await fillIn(tenant, text))
  const search = query.toString()
  const path = await fillIn(tenant, request.path, encodeURIComponent)
  const id = path.split('/')[3] ?? ''
  const confirm = request.headers.map(
    async ([name, text]): Promise<[string, string]> => [
      name,
      text === '@confirm@' ? id : await fillIn(tenant, text),
    ],
  )
  return server.fetch(search === '' ? path : `${path}?${search}`, {
    method: request.method,
    headers: [...headersOf(request, senders), ...(await Promise.all(confirm))],
    ...(request.body === null ? {} : { body: await fillIn(tenant, request.body) }),
  })
}

it(`${count} fuzzed requests with seed ${seed} get only documented responses`, {
  timeout: 120_000 + count * 100,
}, async () => {
  const requests = fc.sample(requestsOf(openApiDocument(), built), { numRuns: count, seed })
  const found = new Map<string, { times: number; example: FuzzRequest; text: string }>()
  const statuses: Record<number, number> = {}
  const succeeded = new Set<RouteName>()
  let senders = await createSenders()
  for (const [index, request] of requests.entries()) {
    if (index % perTenant === perTenant - 1) senders = await createSenders()
    const response = await send(request, senders)
    const text = await readText(response)
    statuses[response.status] = (statuses[response.status] ?? 0) + 1
    if (response.ok) succeeded.add(request.operationId)
    if (response.ok && ending.has(request.operationId)) senders = await createSenders()
    const verdict = judge(request.operationId, response.status, response.headers, text)
    if (verdict.ok) continue
    const name = `${request.operationId}: ${verdict.why}`
    const before = found.get(name)
    found.set(
      name,
      before
        ? { ...before, times: before.times + 1 }
        : {
            times: 1,
            example: request,
            text: logged.get(response.headers.get('x-request-id') ?? '') ?? text,
          },
    )
  }
  const left = names.filter((name) => !built.has(name))
  const never = [...built].filter((name) => !succeeded.has(name))
  process.stdout.write(
    `fuzz: ${count} requests, seed ${seed}, ${built.size} routes, ${left.length} routes without a handler, statuses ${JSON.stringify(statuses)}; never succeeded: ${never.join(' ') || 'none'}\n`,
  )
  for (const [name, { times, example, text }] of [...found].slice(0, printedMax))
    process.stdout.write(
      `  ${times} × ${name}\n    ${JSON.stringify(example).slice(0, 600)}\n    ${text.slice(0, 1500)}\n`,
    )
  expect([...found.keys()]).toEqual([])
  // If nearly all requests were refused, the fuzz would prove nothing.
  expect((statuses[200] ?? 0) + (statuses[201] ?? 0) + (statuses[202] ?? 0)).toBeGreaterThan(count / 20)
})
