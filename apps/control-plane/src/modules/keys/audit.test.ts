/** What the audit log tells of keys: which one, by whom and until when, and never the key. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  addPerson,
  type Recorded,
  recordedDuring,
  startTestControlPlane,
  type TestControlPlane,
  type TestPerson,
} from '@dock/testkit'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

const tokens = { access_token: 'secret-access-token', refresh_token: 'secret-refresh-token', expires_in: 600 }

let server: TestControlPlane
let provider: Server
let folder: string
let person: TestPerson
let organizationId: string
beforeAll(async () => {
  provider = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const device = {
      device_code: 'secret-device-code',
      user_code: 'ABCD-EFGH',
      verification_uri: 'http://x.test',
    }
    response.end(
      JSON.stringify(request.url === '/device' ? { ...device, expires_in: 600, interval: 5 } : tokens),
    )
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  server = await startTestControlPlane({
    environment: {
      CHATGPT_CLIENT_ID: 'client-1',
      CHATGPT_DEVICE_URL: `${url}/device`,
      CHATGPT_TOKEN_URL: `${url}/token`,
    },
  })
  organizationId = server.admin.organizationId
  folder = mkdtempSync(join(tmpdir(), 'dock-audit-'))
})
afterAll(async () => {
  await server.stop()
  await new Promise((resolve) => provider.close(resolve))
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  person = await addPerson(server, { role: 'owner' })
})

type Data = Record<string, string>
const ask = async (method: string, path: string, body?: object, key: string | null = person.apiKey) => {
  const answer = await server.call(method, path, body, key)
  return { code: answer.body.code, data: answer.body.data as Data }
}
/** Returns the one entry that the request records, and the answer. */
const recorded = async (
  ...request: Parameters<typeof ask>
): Promise<{ entry: Partial<Recorded>; data: Data }> => {
  let data: Data = {}
  const entries = await recordedDuring(server.database, async () => {
    const answer = await ask(...request)
    expect(answer.code).toBeUndefined()
    data = answer.data
  })
  expect(entries).toHaveLength(1)
  const { action, actorId, through, target, details, copies, organizationId: of, outcome } = entries[0]!
  expect([actorId, outcome]).toEqual([person.userId, 'succeeded'])
  return { entry: { action, through, target, details, copies, organizationId: of }, data }
}
const nothing = async (code: string | undefined, ...request: Parameters<typeof ask>) =>
  expect(
    await recordedDuring(server.database, async () => expect((await ask(...request)).code).toBe(code)),
  ).toEqual([])
/** An entry about a key of a person's own, which owners of their organizations see, too. */
const own = (action: string, target: object, details: object = {}) => ({
  ...{ action, through: 'api_key', organizationId: null, copies: [organizationId] },
  ...{ target, details },
})
const holds = async (secret: string): Promise<boolean> => {
  const { rows } = await server.database.connections.query('select e::text as row from audit_entries e')
  return rows.some(({ row }) => String(row).includes(secret))
}

it('API keys: created until when, and revoked once', async () => {
  const expiresAt = '2099-01-01T00:00:00.000Z'
  const made = await recorded('POST', '/v1/api-keys', { name: 'ci', expiresAt })
  const target = { type: 'api_key', id: made.data.id, name: 'ci' }
  expect(made.entry).toEqual(own('api_key.created', target, { expiresAt }))
  const { entry } = await recorded('DELETE', `/v1/api-keys/${made.data.id}`)
  expect(entry).toEqual(own('api_key.revoked', target))
  await nothing(undefined, 'DELETE', `/v1/api-keys/${made.data.id}`)
  await nothing('api_key_not_found', 'DELETE', `/v1/api-keys/${organizationId}`)
  await nothing('validation_error', 'POST', '/v1/api-keys', { name: 'ci', expiresAt: '2001-01-01T00:00:00Z' })
  expect([await holds(made.data.id!), await holds(made.data.apiKey!)]).toEqual([true, false])
})

it('SSH keys: added, proved and deleted', async () => {
  const file = join(folder, 'key')
  execFileSync('ssh-keygen', ['-q', '-N', '', '-t', 'ed25519', '-f', file])
  const publicKey = readFileSync(`${file}.pub`, 'utf8')
  const added = await recorded('POST', '/v1/ssh-keys', { name: 'laptop', publicKey })
  const { id, fingerprint } = added.data
  const target = { type: 'ssh_key', id, name: 'laptop' }
  expect(added.entry).toEqual(own('ssh_key.added', target, { fingerprint, expiresAt: null }))
  await nothing('ssh_key_exists', 'POST', '/v1/ssh-keys', { name: 'again', publicKey })
  const { data } = await ask('POST', `/v1/ssh-keys/${id}/challenge`)
  const signature = execFileSync('ssh-keygen', ['-Y', 'sign', '-n', data.namespace!, '-f', file], {
    input: data.challenge!,
    stdio: ['pipe', 'pipe', 'ignore'],
  }).toString()
  await nothing('validation_error', 'POST', `/v1/ssh-keys/${id}/proof`, { signature: 'none' })
  const proved = await recorded('POST', `/v1/ssh-keys/${id}/proof`, { signature })
  expect(proved.entry).toEqual(own('ssh_key.proved', target, { fingerprint }))
  const { entry } = await recorded('DELETE', `/v1/ssh-keys/${id}`)
  expect(entry).toEqual(own('ssh_key.deleted', target, { fingerprint }))
  await nothing('ssh_key_not_found', 'DELETE', `/v1/ssh-keys/${id}`)
})

it('keys of model providers: set, revealed and deleted', async () => {
  const secret = 'sk-ant-very-secret-0123456789'
  const path = `/v1/agent-credentials/anthropic`
  const query = `?organizationId=${organizationId}`
  const entryOf = (action: string) => ({
    ...{ action, through: 'api_key', organizationId, copies: [] },
    ...{ target: { type: 'provider', id: 'anthropic', name: null }, details: {} },
  })
  const body = { organizationId, provider: 'anthropic', key: secret }
  expect((await recorded('PUT', '/v1/agent-credentials', body)).entry).toEqual(entryOf('provider_key.set'))
  const revealed = await recorded('GET', `${path}/reveal${query}`)
  expect([revealed.entry, revealed.data.key]).toEqual([entryOf('provider_key.revealed'), secret])
  expect((await recorded('DELETE', `${path}${query}`)).entry).toEqual(entryOf('provider_key.deleted'))
  await nothing('provider_keys_not_found', 'DELETE', `${path}${query}`)
  await nothing('provider_keys_not_found', 'GET', `${path}/reveal${query}`)
  expect(await holds(secret)).toBe(false)
})

it('the connection of the hosted assistant: added and removed, without its tokens', async () => {
  const target = { type: 'provider', id: 'chatgpt', name: null }
  await nothing(undefined, 'POST', '/v1/chatgpt/connection/device')
  const added = await recorded('POST', '/v1/chatgpt/connection/device/poll')
  expect(added.entry).toEqual(own('account.connection_added', target))
  expect((await recorded('DELETE', '/v1/chatgpt/connection')).entry).toEqual(
    own('account.connection_removed', target),
  )
  await nothing('chatgpt_not_connected', 'DELETE', '/v1/chatgpt/connection')
  for (const secret of [...Object.values(tokens).map(String), 'secret-device-code'])
    if (secret.startsWith('secret')) expect(await holds(secret)).toBe(false)
})

it('a machine: signed in with its name, when it gets the key', async () => {
  const { data } = await ask('POST', '/v1/device/code', { machineName: 'laptop' }, null)
  const approve = () =>
    server.fetch('/device', {
      method: 'POST',
      headers: { cookie: person.cookie, origin: server.config.apiUrl },
      body: new URLSearchParams({ action: 'approve', code: data.userCode! }),
    })
  expect(await recordedDuring(server.database, approve)).toEqual([])
  const { deviceCode } = data
  const redeemed = await recorded('POST', '/v1/device/token', { deviceCode }, null)
  expect(redeemed.entry).toEqual(
    own(
      'account.signed_in',
      { type: 'person', id: person.userId, name: null },
      { method: 'device code', machine: 'laptop' },
    ),
  )
  await nothing('device_code_expired', 'POST', '/v1/device/token', { deviceCode }, null)
  for (const secret of [deviceCode!, data.userCode!, redeemed.data.apiKey!])
    expect(await holds(secret)).toBe(false)
})
