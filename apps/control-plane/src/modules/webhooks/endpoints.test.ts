import { createHmac } from 'node:crypto'
import { routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane, type TestPerson } from '@dock/testkit'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'

/** Repeats until the check holds. */
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 30_000 })

let server: TestControlPlane
beforeAll(async () => {
  server = await startTestControlPlane()
})
afterAll(() => server.stop())

type Body = Record<string, unknown>
const url = 'https://hooks.example.com/dock'

const send = async (person: TestPerson, method: string, path: string, body?: Body) => {
  const answer = await server.fetch(path, {
    method,
    headers: {
      cookie: person.cookie,
      origin: server.config.apiUrl,
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return {
    status: answer.status,
    body: (await answer.json()) as { code?: string; message?: string; data: never },
  }
}

const newOrganization = async () => {
  const owner = await addPerson(server)
  const answer = await server.call('POST', '/v1/organizations', { name: 'Hooks', seats: 5 }, owner.apiKey)
  const { id: organizationId } = answer.body.data as { id: string }
  const create = (over: Body = {}, person = owner) =>
    send(person, 'POST', '/v1/webhooks/endpoints', {
      organizationId,
      name: 'hook',
      url,
      events: ['dock.ready'],
      ...over,
    })
  const path = (id = '', rest = '') =>
    `/v1/webhooks/endpoints${id && `/${id}`}${rest}?organizationId=${organizationId}`
  return { owner, organizationId, create, path }
}

const created = (answer: { body: { data: unknown } }) =>
  routes.createWebhookEndpoint.response.parse(answer.body.data)

it('shows the secret once, and its first 8 characters afterwards', async () => {
  const { owner, organizationId, create, path } = await newOrganization()
  const answer = await create({ events: ['dock.ready', 'dock.archived', 'dock.ready'] })
  expect(answer.status).toBe(201)
  const { secret, ...endpoint } = created(answer)
  expect(secret.length).toBeGreaterThanOrEqual(40)
  expect(endpoint).toMatchObject({
    organizationId,
    name: 'hook',
    url,
    events: ['dock.ready', 'dock.archived'],
    secretPrefix: secret.slice(0, 8),
    disabled: false,
  })
  const member = await addPerson(server, { role: 'member', organizationId })
  const read = await server.call('GET', path(endpoint.id), undefined, member.apiKey)
  expect(read.body.data).toEqual(endpoint)
  const stored = await server.database.db.selectFrom('webhook_endpoints').selectAll().execute()
  expect(JSON.stringify(stored)).not.toContain(secret)
  const second = created(await create({ name: 'second' }))
  const listed = await server.call('GET', path(), undefined, owner.apiKey)
  expect((listed.body.data as { id: string }[]).map(({ id }) => id)).toEqual([second.id, endpoint.id])
})

it('is written by admins in a session only, and read by members', async () => {
  const { organizationId, create, path } = await newOrganization()
  const { id } = created(await create())
  const admin = await addPerson(server, { role: 'admin', organizationId })
  const member = await addPerson(server, { role: 'member', organizationId })
  const body = { organizationId, name: 'x', url, events: ['dock.ready'] }
  const byKey = await server.call('POST', '/v1/webhooks/endpoints', body, admin.apiKey)
  expect([byKey.status, byKey.body.code]).toEqual([403, 'session_required'])
  expect((await create({}, member)).body.code).toBe('forbidden')
  expect((await create({}, admin)).status).toBe(201)
  expect((await server.call('DELETE', path(id), undefined, admin.apiKey)).body.code).toBe('session_required')
  expect((await send(member, 'DELETE', path(id))).body.code).toBe('forbidden')
  expect((await send(admin, 'DELETE', path(id))).body.data).toEqual({ removed: true })
  expect((await send(admin, 'DELETE', path(id))).body.code).toBe('webhook_endpoint_not_found')
})

it('is invisible to other organizations', async () => {
  const { create, path } = await newOrganization()
  const other = await newOrganization()
  const { id } = created(await create())
  for (const rest of ['', '/deliveries'])
    for (const where of [path(id, rest), other.path(id, rest)]) {
      const answer = await server.call('GET', where, undefined, other.owner.apiKey)
      expect([answer.status, answer.body.code]).toEqual([404, 'webhook_endpoint_not_found'])
    }
  expect((await send(other.owner, 'DELETE', other.path(id))).body.code).toBe('webhook_endpoint_not_found')
})

it('refuses an eleventh endpoint, even for concurrent requests', async () => {
  const { owner, create, path } = await newOrganization()
  const answers = await Promise.all(Array.from({ length: 14 }, () => create()))
  const refused = answers.filter(({ status }) => status !== 201)
  expect(refused.map(({ body }) => body.code)).toEqual(Array(4).fill('endpoints_exceeded'))
  const { id } = created(answers.find(({ status }) => status === 201)!)
  await send(owner, 'DELETE', path(id))
  expect((await create()).status).toBe(201)
})

it('says what is wrong with a body', async () => {
  const { create } = await newOrganization()
  server.receivers.refuse('https://private.example.com/', 'The host has an address that is not public.')
  for (const [over, message] of [
    [{ url: 'https://private.example.com/' }, 'url: The host has an address that is not public.'],
    [{ url: `https://hooks.example.com/${'x'.repeat(2000)}` }, 'url'],
    [{ url: 'nonsense' }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['dock.unheard'] }, 'events'],
    [{ events: ['webhook.test'] }, 'events'],
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ more: 1 }, 'more'],
  ] as const) {
    const answer = await create(over)
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_error'])
    expect(answer.body.message).toContain(message)
  }
})

it('sends a signed test event, lists it, and sends it again with the same id', async () => {
  const { owner, organizationId, create, path } = await newOrganization()
  const receiver = `https://hooks.example.com/${newUuid()}`
  const { id, secret } = created(await create({ url: receiver }))
  const test = await send(owner, 'POST', path(id, '/test'))
  expect(test.status).toBe(202)
  const { eventId } = routes.testWebhookEndpoint.response.parse(test.body.data)
  const arrived = () => server.receivers.received.filter((each) => each.url === receiver)
  await eventually(() => expect(arrived()).toHaveLength(1))
  const { headers, body } = arrived()[0]!
  expect(JSON.parse(body)).toEqual({
    id: eventId,
    type: 'webhook.test',
    occurredAt: expect.any(String),
    organizationId,
  })
  const [, seconds, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['dock-signature']!)!
  expect(mac).toBe(createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'))
  expect(Math.abs(Date.now() / 1000 - Number(seconds))).toBeLessThan(60)

  const listAttempts = async () =>
    routes.listDeliveryAttempts.response.parse(
      (await server.call('GET', path(id, '/deliveries'), undefined, owner.apiKey)).body.data,
    )
  const [attempt] = await eventually(async () => {
    const attempts = await listAttempts()
    expect(attempts).toHaveLength(1)
    return attempts
  })
  expect(attempt).toMatchObject({ eventId, endpointId: id, event: 'webhook.test', status: 200, error: null })
  const again = await send(owner, 'POST', path(id, `/deliveries/${attempt!.id}/redeliver`))
  expect(again.body.data).toEqual({ eventId })
  await eventually(() => expect(arrived()).toHaveLength(2))
  expect(arrived()[1]!.body).toBe(body)
  await eventually(async () =>
    expect((await listAttempts()).map((each) => each.eventId)).toEqual([eventId, eventId]),
  )
  const unknown = await send(owner, 'POST', path(id, `/deliveries/${newUuid()}/redeliver`))
  expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found'])
})

it('shows a member what an attempt sent and what came back', async () => {
  const { owner, organizationId, create, path } = await newOrganization()
  const member = await addPerson(server, { role: 'member', organizationId })
  const receiver = `https://hooks.example.com/${newUuid()}`
  const { id, secret } = created(await create({ url: receiver }))
  const elsewhere = created(await create())
  server.receivers.respond(receiver, () => ({
    status: 422,
    retryAfterSeconds: null,
    answer: 'no <b>channel',
  }))
  await send(owner, 'POST', path(id, '/test'))
  const attempt = await eventually(async () => {
    const { body } = await send(member, 'GET', path(id, '/deliveries'))
    const [first] = routes.listDeliveryAttempts.response.parse(body.data)
    expect(first).toBeDefined()
    return first!
  })
  const read = (person: TestPerson, endpointId: string, deliveryId: string, organization = organizationId) =>
    send(
      person,
      'GET',
      `/api/dashboard/webhooks/${endpointId}/deliveries/${deliveryId}?organizationId=${organization}`,
    )
  const answer = await read(member, id, attempt.id)
  const details = routes.readDelivery.response.parse(answer.body.data)
  const arrived = server.receivers.received.find((each) => each.url === receiver)!
  expect(details).toEqual({
    attempt,
    request: {
      url: receiver,
      headers: Object.entries(arrived.headers)
        .filter(([name]) => name !== 'dock-signature')
        .map(([name, value]) => ({ name, value })),
      body: arrived.body,
    },
    answer: { status: 422, body: 'no <b>channel', milliseconds: expect.any(Number) },
  })
  expect(JSON.stringify(details)).not.toContain(secret)

  const stranger = await newOrganization()
  const refusals = [
    [await read(member, elsewhere.id, attempt.id), 'not_found'],
    [await read(member, id, newUuid()), 'not_found'],
    [await read(stranger.owner, id, attempt.id), 'webhook_endpoint_not_found'],
    [await read(stranger.owner, id, attempt.id, stranger.organizationId), 'webhook_endpoint_not_found'],
  ] as const
  for (const [{ status, body }, code] of refusals) expect([status, body.code]).toEqual([404, code])
})

it('signs with the old and the new secret for a day after a rotation', async () => {
  const { owner, create, path } = await newOrganization()
  const receiver = `https://hooks.example.com/${newUuid()}`
  const { id, secret: old } = created(await create({ url: receiver }))
  const rotated = created(await send(owner, 'POST', path(id, '/rotate-secret')))
  expect(rotated.secret).not.toBe(old)
  expect(rotated.secretPrefix).toBe(rotated.secret.slice(0, 8))
  const deliver = async () => {
    const count = server.receivers.received.length
    await send(owner, 'POST', path(id, '/test'))
    await eventually(() => expect(server.receivers.received.length).toBeGreaterThan(count))
    const { headers, body } = server.receivers.received.at(-1)!
    const [time, ...signatures] = headers['dock-signature']!.split(',')
    const signed = (secret: string) =>
      `v1=${createHmac('sha256', secret)
        .update(`${time!.slice(2)}.${body}`)
        .digest('hex')}`
    return { signatures, signed }
  }
  const during = await deliver()
  expect(during.signatures).toEqual([during.signed(rotated.secret), during.signed(old)])
  await server.database.db
    .updateTable('webhook_endpoints')
    .set({ previous_secret_until: new Date(Date.now() - 1) })
    .where('id', '=', id)
    .execute()
  const after = await deliver()
  expect(after.signatures).toEqual([after.signed(rotated.secret)])
})

it('gets a new secret also if no key opens the old one', async () => {
  const { owner, create, path } = await newOrganization()
  const receiver = `https://hooks.example.com/${newUuid()}`
  const { id } = created(await create({ url: receiver }))
  await server.database.db
    .updateTable('webhook_endpoints')
    .set({ sealed_secret: 'no sealed value' })
    .where('id', '=', id)
    .execute()
  const rotated = await send(owner, 'POST', path(id, '/rotate-secret'))
  expect(rotated.status).toBe(200)
  await send(owner, 'POST', path(id, '/test'))
  const arrived = () => server.receivers.received.filter(({ url }) => url === receiver)
  await eventually(() => expect(arrived()).toHaveLength(1))
  const { headers, body } = arrived()[0]!
  const [time, ...signatures] = headers['dock-signature']!.split(',')
  const signature = createHmac('sha256', created(rotated).secret)
    .update(`${time!.slice(2)}.${body}`)
    .digest('hex')
  expect(signatures).toEqual([`v1=${signature}`])
})

it('is disabled by a 410, refuses tests then, and receives again once it is enabled', async () => {
  const { owner, create, path } = await newOrganization()
  const receiver = `https://hooks.example.com/${newUuid()}`
  const { id } = created(await create({ url: receiver }))
  server.receivers.respond(receiver, () => ({ status: 410, retryAfterSeconds: null, answer: '' }))
  await send(owner, 'POST', path(id, '/test'))
  const isDisabled = async () =>
    ((await server.call('GET', path(id), undefined, owner.apiKey)).body.data as { disabled: boolean })
      .disabled
  await eventually(async () => expect(await isDisabled()).toBe(true))
  const [attempt] = routes.listDeliveryAttempts.response.parse(
    (await server.call('GET', path(id, '/deliveries'), undefined, owner.apiKey)).body.data,
  )
  expect(attempt).toMatchObject({ status: 410, error: 'HTTP status 410' })
  expect((await send(owner, 'POST', path(id, '/test'))).body.code).toBe('conflict')
  expect((await send(owner, 'POST', path(id, `/deliveries/${attempt!.id}/redeliver`))).body.code).toBe(
    'conflict',
  )
  const enabled = await send(owner, 'POST', path(id, '/enable'))
  expect(routes.enableWebhookEndpoint.response.parse(enabled.body.data).disabled).toBe(false)
  server.receivers.respond(receiver, () => ({ status: 204, retryAfterSeconds: null, answer: '' }))
  expect((await send(owner, 'POST', path(id, '/test'))).status).toBe(202)
  await eventually(() =>
    expect(server.receivers.received.filter((each) => each.url === receiver)).toHaveLength(2),
  )
})

it('allows 60 tests a minute', async () => {
  const { owner, create, path } = await newOrganization()
  const { id } = created(await create({ url: `https://hooks.example.com/${newUuid()}` }))
  const answers = await Promise.all(Array.from({ length: 62 }, () => send(owner, 'POST', path(id, '/test'))))
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(60)
  expect(answers.filter(({ body }) => body.code === 'rate_limited')).toHaveLength(2)
})
