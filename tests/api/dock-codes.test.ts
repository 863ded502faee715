/** Every code that the contract lists for a Dock route is brought about over HTTP, or the table says why it cannot be. */
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type ErrorCode, errorCodes, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, type ControlPlaneWithHost, controlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { accessScenes } from './support/codes/access-scenes.ts'
import { lifecycleScenes } from './support/codes/lifecycle-scenes.ts'
import type { Reply, Scene, Scenes, Stage } from './support/codes/stage.ts'

const scenes: Scenes = { ...lifecycleScenes, ...accessScenes }

/** Codes that come about only where the operator has set something. */
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
    controlPlaneWithHost({ environment }).then(async (server) => ({
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

const setStage = async (code: ErrorCode): Promise<Stage> => {
  const { server, port } = await serverFor(code)
  const owner = await addPerson(server)
  const ask: Stage['ask'] = async (method, path, body, { as = owner, headers = {} } = {}) => {
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

describe.each(Object.entries(scenes))('%s', (name, codes: Readonly<Record<string, Scene>>) => {
  const listed: readonly ErrorCode[] = routes[name as keyof Scenes].errors

  it('has a scene for each of its codes, and for no other', () => {
    expect(Object.keys(codes).sort()).toEqual([...listed].sort())
  })

  const played = listed.flatMap((code) => {
    const scene = codes[code]
    return typeof scene === 'function' ? [{ code, scene }] : []
  })
  it.for(played)('answers $code', async ({ code, scene }) => {
    const { status, code: answered } = await scene(await setStage(code))
    expect({ status, code: answered }).toEqual({ status: errorCodes[code].status, code })
  })
})
