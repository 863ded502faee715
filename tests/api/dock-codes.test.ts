/** Triggers every error code that the contract lists for a Dock route over HTTP, or states why that is impossible. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type ErrorCode, errorCodes, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessTriggers } from './support/codes/access-triggers.ts'
import type { Fixture, Reply, Trigger, Triggers } from './support/codes/fixture.ts'
import { lifecycleTriggers } from './support/codes/lifecycle-triggers.ts'

const triggers: Triggers = { ...lifecycleTriggers, ...accessTriggers }

/** Codes that need a setting of the operator. */
const settings: Partial<Record<ErrorCode, Record<string, string>>> = {
  subscription_required: { DOCK_BILLING: 'on' },
  concurrency_exceeded: { DOCK_BILLING: 'on' },
  budget_exceeded: { DOCK_BILLING: 'on' },
  ports_unavailable: { PORTS_DOMAIN: 'off' },
}

const servers = new Map<string, Promise<{ server: ControlPlaneWithHost; port: number }>>()
const serverFor = (code: ErrorCode) => {
  const environment = settings[code] ?? {}
  const name = JSON.stringify(environment)
  const known = servers.get(name)
  const started =
    known ??
    startControlPlaneWithHost({ environment }).then(async (server) => ({
      server,
      port: (await server.listen()).port,
    }))
  servers.set(name, started)
  return started
}
beforeAll(() => serverFor('validation_error'))
afterAll(async () => {
  for (const started of servers.values()) await (await started).server.stop()
})

const replyOf = (status: number, text: string): Reply => {
  const { code, data } = JSON.parse(text) as { code?: string; data?: unknown }
  return { status, code, data }
}

const createFixture = async (code: ErrorCode): Promise<Fixture> => {
  const { server, port } = await serverFor(code)
  const owner = await addPerson(server)
  const ask: Fixture['ask'] = async (method, path, body, { as = owner, headers = {} } = {}) => {
    const answer = await server.fetch(path, {
      method,
      headers: {
        authorization: `Bearer ${as.apiKey}`,
        ...(body && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    return replyOf(answer.status, await answer.text())
  }
  const made = await ask('POST', '/v1/organizations', { name: `Org ${newUuid()}` })
  const { id: organizationId } = made.data as { id: string }
  const { data } = await ask('GET', `/v1/organizations/${organizationId}/workspaces`)
  const [workspace] = data as { id: string }[]
  const member = await addPerson(server, { role: 'member', organizationId })
  return {
    ...{ server, owner, member, organizationId, workspaceId: workspace!.id, ask },
    upgrade: async (path) => {
      const headers = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.alloc(16).toString('base64'),
      }
      const outgoing = request({ port, path, headers, agent: false }).end()
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
      return replyOf(response.statusCode ?? 0, Buffer.concat(await response.toArray()).toString())
    },
  }
}

describe.each(Object.entries(triggers))('%s', (name, codes: Readonly<Record<string, Trigger>>) => {
  const listed: readonly ErrorCode[] = routes[name as keyof Triggers].errors

  it('has a trigger for each of its codes, and for no other', () => {
    expect(Object.keys(codes).sort()).toEqual([...listed].sort())
  })

  const triggerable = listed.flatMap((code) => {
    const trigger = codes[code]
    return typeof trigger === 'function' ? [{ code, trigger }] : []
  })
  it.for(triggerable)('responds with $code', async ({ code, trigger }) => {
    const { status, code: answered } = await trigger(await createFixture(code))
    expect({ status, code: answered }).toEqual({ status: errorCodes[code].status, code })
  })
})
