/** Fuzzes the routes outside the contract: sign-in, host registration and MCP. No request may cause an internal error. */

import { addPerson, startControlPlaneWithHost } from '@dock/testkit'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { brokenBody, nastyText, nastyValue } from './support/fuzz/nasty-values.ts'

const count = Number(process.env.DOCK_FUZZ_REQUESTS ?? '1000') / 4
const seed = Number(process.env.DOCK_FUZZ_SEED ?? '20261')

const errors: string[] = []
const server = await startControlPlaneWithHost({
  logTo: (line) => {
    if ((JSON.parse(line) as { level: number }).level >= 50) errors.push(line)
  },
})
afterAll(() => server.stop())
const { apiKey } = await addPerson(server)

const posts = [
  '/api/auth/sign-up/email',
  '/api/auth/sign-in/email',
  '/api/auth/sign-in/social',
  '/api/auth/sign-out',
  '/api/auth/request-password-reset',
  '/api/auth/reset-password',
  '/api/auth/send-verification-email',
  '/api/auth/change-password',
  '/api/auth/revoke-session',
  '/v1/fleet/register',
  '/v1/fleet/join-token',
  '/mail/unsubscribe/x',
  '/device',
]
const gets = [
  '/api/auth/get-session',
  '/api/auth/verify-email',
  '/api/auth/callback/github',
  '/api/auth/error',
  '/mail/unsubscribe/x.disk_full.y',
  '/device',
  '/x',
]
const fields = [
  'email',
  'password',
  'name',
  'token',
  'newPassword',
  'provider',
  'callbackURL',
  'joinToken',
  'facts',
  'code',
  'action',
]

const good: Record<string, unknown> = {
  email: 'somebody@example.test',
  password: 'correct horse battery',
  newPassword: 'correct horse battery',
  name: 'Somebody',
  provider: 'github',
  callbackURL: '/',
  code: 'BCDF-GHJK',
  action: 'sign-in',
}
const body = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .dictionary(fc.constantFrom(...fields), nastyValue, { maxKeys: 4 })
      .map((bad) => JSON.stringify({ ...good, ...bad })),
  },
  { weight: 1, arbitrary: brokenBody },
)
const toolNames = ['create_dock', 'run_command', 'read_file', 'list_snapshots', 'read_snapshot_file', 'x']
/** Messages of MCP, most of them wrong somewhere. */
const message = fc
  .record({
    jsonrpc: fc.oneof({ weight: 4, arbitrary: fc.constant('2.0') }, nastyValue),
    id: fc.oneof({ weight: 4, arbitrary: fc.nat() }, nastyValue),
    method: fc.constantFrom('tools/call', 'tools/list', 'initialize', 'ping', 'resources/read', 'x'),
    params: fc.oneof(
      nastyValue,
      fc.record({
        name: fc.oneof(fc.constantFrom(...toolNames), nastyValue),
        arguments: fc.oneof(
          nastyValue,
          fc.dictionary(
            fc.constantFrom('dock', 'path', 'command', 'snapshot', 'cursor', 'offset'),
            nastyValue,
          ),
        ),
      }),
    ),
  })
  .map((value) => JSON.stringify(value))
const query = fc.dictionary(fc.constantFrom('token', 'code', 'state', 'callbackURL', 'error'), nastyText, {
  maxKeys: 3,
})
const request = fc.oneof(
  fc.record({
    ...{ method: fc.constant('POST'), path: fc.constant('/mcp'), query },
    body: fc.oneof({ weight: 4, arbitrary: message }, brokenBody),
  }),
  fc.record({ method: fc.constant('POST'), path: fc.constantFrom(...posts), query, body }),
  fc.record({ method: fc.constant('GET'), path: fc.constantFrom(...gets), query, body: fc.constant(null) }),
)

it(`${count} fuzzed requests with seed ${seed} cause no internal error`, {
  timeout: 120_000 + count * 400,
}, async () => {
  const failed: string[] = []
  let index = 0
  for (const { method, path, query: search, body: text } of fc.sample(request, { numRuns: count, seed })) {
    index += 1
    const url = `${server.config.apiUrl}${path}?${new URLSearchParams(search)}`
    const headers = {
      ...{ origin: server.config.apiUrl, 'content-type': 'application/json' },
      ...(path === '/mcp'
        ? { authorization: `Bearer ${apiKey}`, accept: 'application/json, text/event-stream' }
        : {}),
    }
    // Each request has its own address; otherwise rate limits would refuse most of them.
    const remoteAddress = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`
    const response = await server.controlPlane.app.fetch(new Request(url, { method, headers, body: text }), {
      incoming: { socket: { remoteAddress } },
    } as never)
    const answered = await response.text()
    if (response.status >= 500) failed.push(`${method} ${path} ${response.status} ${text} ${answered}`)
  }
  expect(failed.slice(0, 5)).toEqual([])
  expect(errors.slice(0, 5)).toEqual([])
})

it('a token with a NUL, which PostgreSQL cannot store, is refused', async () => {
  const url = `${server.config.apiUrl}/api/auth/reset-password?token=%00`
  const headers = { origin: server.config.apiUrl, 'content-type': 'application/json' }
  const body = JSON.stringify({ newPassword: 'correct horse battery' })
  const response = await server.controlPlane.app.fetch(new Request(url, { method: 'POST', headers, body }), {
    incoming: { socket: { remoteAddress: '10.200.0.1' } },
  } as never)
  expect(response.status).toBe(400)
})
