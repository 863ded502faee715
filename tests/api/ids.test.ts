/** UUIDs are case-insensitive (RFC 9562): upper and lower case name the same resource, and share limits and keys. */
import { newUuid } from '@dock/foundation'
import { addPerson, type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'

let server: ControlPlaneWithHost
let key: string
let id: string

// biome-ignore lint/suspicious/noExplicitAny: each test knows the type of the response.
type Answer = { data?: any; code?: string }

const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const answer = await server.fetch(path, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, ...((await answer.json()) as Answer) }
}

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  key = (await addPerson(server)).apiKey
  const organization = (await ask('POST', '/v1/organizations', { name: `Org ${newUuid()}` })).data
  const [workspace] = (await ask('GET', `/v1/organizations/${organization.id}/workspaces`)).data
  id = (await ask('POST', '/v1/docks', { workspaceId: workspace.id.toUpperCase() })).data.id
})
afterAll(() => server.stop())

test('a Dock can be read, stopped, resumed, branched and deleted by its id in upper case', async () => {
  const path = `/v1/docks/${id.toUpperCase()}`
  expect((await ask('GET', path)).data.id).toBe(id)
  expect((await ask('GET', `${path}/stats`)).data).toMatchObject({ dockId: id, state: 'ready' })
  expect((await ask('POST', `${path}/terminal`)).status).toBe(201)
  expect((await ask('POST', `${path}/stop`, {})).data).toEqual({ id, state: 'archived' })
  expect((await ask('POST', `${path}/resume`, {})).data).toEqual({ id, state: 'ready' })
  const { data: branch } = await ask('POST', `${path}/branch`, {})
  expect(branch.state).toBe('ready')
  const gone = await ask('DELETE', `/v1/docks/${branch.id.toUpperCase()}`, undefined, {
    'x-confirm-delete': branch.id,
  })
  expect(gone.status).toBe(202)
})

test('commands count against the same rate limit for both spellings of the Dock’s id', async () => {
  const codes: unknown[] = []
  for (let index = 0; index < 121; index++) {
    const spelling = index % 2 === 0 ? id : id.toUpperCase()
    codes.push((await ask('POST', `/v1/docks/${spelling}/exec`, { command: 'true' })).code)
  }
  expect(codes).toEqual([...Array(120).fill(undefined), 'rate_limited'])
})
