import { createHmac } from 'node:crypto'
import type { CreatedWebhookEndpoint, DeliveryAttempt, WebhookEndpoint } from '@dock/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDock, deleteDock } from './support/dock.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'
import { type InSession, signIn } from './support/session.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const patient = { timeout: 60_000, interval: 50 }
let receiver: Receiver
let inSession: InSession
beforeAll(async () => {
  receiver = await startReceiver()
  inSession = await signIn(server.admin)
})
afterAll(() => receiver.close())

const organization = () => `organizationId=${server.admin.organizationId}`
const addEndpoint = (path: string, events: readonly string[]) =>
  inSession<CreatedWebhookEndpoint>('POST', '/v1/webhooks/endpoints', {
    organizationId: server.admin.organizationId,
    name: freshName('hook'),
    url: receiver.url(path),
    events,
  })
const remove = ({ id }: WebhookEndpoint) =>
  inSession('DELETE', `/v1/webhooks/endpoints/${id}?${organization()}`)

it('tells of a Dock that becomes ready, is archived and resumes, with exactly the documented body', async () => {
  const path = `/${freshName('life')}`
  const endpoint = await addEndpoint(path, ['dock.ready', 'dock.archived', 'dock.hydrated', 'dock.error'])
  const dock = await createDock(server)
  await expect.poll(() => receiver.receivedAt(path).length, patient).toBe(1)
  await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
  await expect.poll(() => receiver.receivedAt(path).length, patient).toBe(2)
  await server.client.call('resumeDock', { params: { id: dock.id }, body: {} })
  await expect.poll(() => receiver.receivedAt(path).length, patient).toBe(3)
  const told = receiver.receivedAt(path)
  const { organizationId, workspaceId } = server.admin
  const expected = [
    ['dock.ready', 'ready'],
    ['dock.archived', 'archived'],
    ['dock.hydrated', 'ready'],
  ].map(([type, state]) => ({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type,
    occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    dock: { id: dock.id, state },
    organizationId,
    workspaceId,
  }))
  expect(told.map(({ body }) => JSON.parse(body))).toEqual(expected)
  for (const { headers, body } of told) {
    expect(headers['content-type']).toBe('application/json')
    const [, seconds, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['dock-signature']))!
    expect(mac).toBe(createHmac('sha256', endpoint.secret).update(`${seconds}.${body}`).digest('hex'))
  }
  const attempts = await server.client.call('listDeliveryAttempts', {
    params: { id: endpoint.id },
    query: { organizationId },
  })
  expect(attempts.map(({ event, status }: DeliveryAttempt) => [event, status])).toEqual([
    ['dock.hydrated', 204],
    ['dock.archived', 204],
    ['dock.ready', 204],
  ])
  await remove(endpoint)
  await deleteDock(server, dock.id)
})

it('sends nothing for events that an endpoint is not subscribed to, nor after a 410', async () => {
  const [gone, other] = [`/${freshName('gone')}`, `/${freshName('other')}`]
  receiver.respondWith(gone, 410)
  const endpoints = [await addEndpoint(gone, ['dock.ready']), await addEndpoint(other, ['dock.archived'])]
  const dock = await createDock(server)
  await expect.poll(() => receiver.receivedAt(gone).length, patient).toBe(1)
  const read = () =>
    server.client.call('readWebhookEndpoint', {
      params: { id: endpoints[0]!.id },
      query: { organizationId: server.admin.organizationId },
    })
  await expect.poll(async () => (await read()).disabled, patient).toBe(true)
  const second = await createDock(server)
  await server.client.call('stopDock', { params: { id: dock.id }, body: {} })
  await expect.poll(() => receiver.receivedAt(other).length, patient).toBe(1)
  expect(JSON.parse(receiver.receivedAt(other)[0]!.body)).toMatchObject({
    type: 'dock.archived',
    dock: { id: dock.id, state: 'archived' },
  })
  expect(receiver.receivedAt(gone)).toHaveLength(1)
  for (const endpoint of endpoints) await remove(endpoint)
  for (const { id } of [dock, second]) await deleteDock(server, id)
})
