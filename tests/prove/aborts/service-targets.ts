/** What the service itself sends: lists, documents, pages, the live stream and MCP. And doors of hosts and webhooks. */
import { randomUUID } from 'node:crypto'
import type { Random } from './random.ts'
import type { RawRequest } from './raw-request.ts'
import { httpTarget, type Target, withKey } from './target.ts'
import type { World } from './world.ts'

const coding = (random: Random): Record<string, string> =>
  random.chance(0.5) ? { 'accept-encoding': random.pick(['br', 'gzip']) } : {}

const page = (world: World, random: Random): RawRequest => ({
  ...{ method: 'GET', path: random.pick(world.pages) },
  headers: { accept: 'text/html', ...coding(random) },
})

const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })
const mcp = (world: World, random: Random): RawRequest => {
  const headers = {
    ...{ ...withKey(world), 'content-type': 'application/json' },
    accept: 'application/json, text/event-stream',
  }
  if (random.chance(0.1)) return { method: 'GET', path: '/mcp', headers }
  const hello = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'aborts', version: '1' },
  }
  const message = random.pick([
    call('tools/list', {}),
    call('initialize', hello),
    call('tools/call', { name: 'list_docks', arguments: {} }),
    call('ping', {}),
  ])
  return {
    ...{ method: 'POST', path: '/mcp', headers },
    body: {
      bytes: Buffer.from(JSON.stringify(message)),
      framing: random.pick(['length', 'length', 'chunked', 'damaged']),
    },
  }
}

const lists = (world: World, random: Random): RawRequest => ({
  method: 'GET',
  path: random.pick([
    '/v1/docks?all=true',
    `/v1/github/runs?workspaceId=${world.server.admin.workspaceId}`,
    `/v1/organizations/${world.server.admin.organizationId}/audit/export`,
    '/v1/audit/export',
  ]),
  headers: withKey(world),
})

/** Bodies of strangers: a signed event, a host that registers, a sign-in with nothing in it. */
const strangers = (_: World, random: Random): RawRequest => ({
  method: 'POST',
  path: random.pick(['/v1/github/events', '/v1/fleet/register', '/v1/billing/events', '/v1/device/token']),
  headers: {
    'content-type': 'application/json',
    'x-github-event': 'ping',
    'x-github-delivery': randomUUID(),
  },
  body: {
    bytes: Buffer.alloc(random.below(60_000), '{"a":1} '),
    framing: random.pick(['length', 'chunked', 'damaged', 'short']),
  },
})

export const serviceTargets: readonly Target[] = [
  httpTarget({
    ...{ name: 'lists', weight: 3, request: lists },
    routes: ['listDocks', 'listRuns', 'exportAudit', 'exportInstanceAudit'],
  }),
  httpTarget({
    ...{ name: 'live stream', weight: 5, routes: ['readLive'], atOnceMax: 12 },
    request: ({ cookie }) => ({ method: 'GET', path: '/api/live', headers: { cookie }, isEndless: true }),
  }),
  httpTarget({ name: 'OpenAPI and pages', weight: 5, request: page }),
  httpTarget({ name: 'MCP', weight: 4, request: mcp }),
  httpTarget({ name: 'strangers', weight: 1, request: strangers }),
]
