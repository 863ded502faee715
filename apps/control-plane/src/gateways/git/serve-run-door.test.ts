/** The doors of models and reports over HTTP, with a provider of models in this process. */
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { newUuid } from '@dock/foundation'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { RunAtDoor } from '../../modules/runs/index.ts'
import { DoorRefusal, sendRefusal } from './door-refusal.ts'
import { prepareModelRequest } from './prepare-model-request.ts'
import { createServeRunDoor } from './serve-run-door.ts'

const dock = { dockId: newUuid(), hostId: newUuid(), generation: 1 }
let run: RunAtDoor | null
let reports: string[]
let uses: object[]
let left: number
let openedKeys: number
let asked: {
  method: string | undefined
  url: string | undefined
  headers: IncomingMessage['headers']
  body: string
}[]
let answer: { type: string; status: number; pieces: string[]; isLate?: boolean }
let provider: Server
let door: Server
let url: string

const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

beforeAll(async () => {
  provider = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += String(piece)
    asked.push({ method: request.method, url: request.url, headers: request.headers, body })
    if (answer.isLate) return
    response.writeHead(answer.status, { 'content-type': answer.type, 'set-cookie': 'a=b' })
    for (const piece of answer.pieces) response.write(piece)
    response.end()
  })
  const base = await listen(provider)
  const serve = createServeRunDoor({
    servers: { anthropic: base, openai: base },
    door: {
      find: async () => run,
      report: async (_, text) => void reports.push(text),
      modelKey: async (_, name) => {
        openedKeys += 1
        return name === 'anthropic' || name === 'openai' ? `key-of-${name}` : null
      },
      budgetLeft: async () => left,
      count: async (_, model, use) => void uses.push({ model, ...use }),
    },
  })
  door = createServer((request, response) => {
    serve(dock, request, response).catch((error: unknown) =>
      sendRefusal(
        request,
        response,
        error instanceof DoorRefusal ? error : new DoorRefusal(500, String(error)),
      ),
    )
  })
  url = await listen(door)
})
afterAll(() => {
  provider.close()
  door.close()
})
beforeEach(() => {
  run = { runId: newUuid(), turnId: newUuid(), organizationId: newUuid(), mayUseModels: true }
  ;[reports, uses, asked, left, openedKeys] = [[], [], [], 5_000_000, 0]
  answer = {
    type: 'application/json',
    status: 200,
    pieces: ['{"usage":{"input_tokens":7,"output_tokens":3}}'],
  }
})

const post = (path: string, body: object | string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

it('adds the key outside, forwards nothing that the agent sent as one, and counts tokens', async () => {
  const sent = await post(
    '/model/anthropic/v1/messages',
    { model: 'claude-x' },
    { 'x-api-key': 'none', cookie: 'c' },
  )
  expect(await sent.json()).toEqual({ usage: { input_tokens: 7, output_tokens: 3 } })
  expect(sent.headers.get('set-cookie')).toBeNull()
  expect(asked[0]).toMatchObject({ url: '/v1/messages', headers: { 'x-api-key': 'key-of-anthropic' } })
  expect(asked[0]!.headers.cookie).toBeUndefined()
  expect(uses).toEqual([{ model: 'claude-x', input: 7, output: 3, toolCalls: 0 }])
  await (await post('/model/openai/v1/responses', { model: 'm' }, { authorization: 'Bearer none' })).text()
  expect(asked[1]!.headers.authorization).toBe('Bearer key-of-openai')
})

const streams: { of: string; path: string; pieces: string[]; use: object }[] = [
  {
    of: 'messages',
    path: '/model/anthropic/v1/messages',
    pieces: [
      'data: {"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}\n\n',
      'data: {"type":"message_delta","usage":{"output_to',
      'kens":20}}\n\n',
    ],
    use: { input: 15, output: 20 },
  },
  {
    of: 'chat completions',
    path: '/model/openai/v1/chat/completions',
    pieces: [
      'data: {"choices":[]}\n\ndata: {"usage":{"prompt_tokens":4,"completion_tokens":6}}\n\ndata: [DONE]\n\n',
    ],
    use: { input: 4, output: 6 },
  },
  {
    of: 'responses',
    path: '/model/openai/v1/responses',
    pieces: [
      'data: {"type":"response.completed","response":{"usage":{"input_tokens":8,"output_tokens":9}}}\n\n',
    ],
    use: { input: 8, output: 9 },
  },
  {
    of: 'an unknown kind, by an estimate',
    path: '/model/openai/v1/responses',
    pieces: ['data: {"type":"x"}\n\n'],
    use: { input: 9, output: 7 },
  },
]
it.each(streams)('counts a stream of $of', async ({ path, pieces, use }) => {
  answer = { type: 'text/event-stream', status: 200, pieces }
  const got = await post(path, { model: 'm', stream: true })
  expect(await got.text()).toBe(pieces.join(''))
  await expect.poll(() => uses).toEqual([{ model: 'm', toolCalls: 0, ...use }])
  if (path.endsWith('completions'))
    expect(JSON.parse(asked[0]!.body)).toMatchObject({ stream_options: { include_usage: true } })
})

it('refuses with 403 at the budget, without models, and without a Run', async () => {
  const refused = async () => {
    const { status } = await post('/model/anthropic/v1/messages', {})
    return status
  }
  left = 0
  expect(await refused()).toBe(403)
  left = 1
  run!.mayUseModels = false
  expect(await refused()).toBe(403)
  run = null
  expect(await refused()).toBe(403)
  expect((await post('/report', 'done')).status).toBe(403)
  expect(asked).toEqual([])
})

it('counts nothing for questions that cost nothing', async () => {
  answer.pieces = ['{"input_tokens":7}']
  await (await post('/model/anthropic/v1/messages/count_tokens', { model: 'm' })).text()
  await (await fetch(`${url}/model/openai/v1/models`)).text()
  expect(asked).toHaveLength(2)
  expect(uses).toEqual([])
})

it('estimates a request that the agent gave up before its answer', async () => {
  answer.isLate = true
  const controller = new AbortController()
  const body = JSON.stringify({ model: 'm', max_tokens: 50, n: 3 })
  const given = fetch(`${url}/model/anthropic/v1/messages`, {
    method: 'POST',
    body,
    signal: controller.signal,
  }).catch(() => null)
  await expect.poll(() => asked).toHaveLength(1)
  controller.abort()
  await given
  await expect
    .poll(() => uses)
    .toEqual([{ model: 'm', input: Math.ceil(body.length / 3), output: 150, toolCalls: 0 }])
})

it('counts a conversation at the provider that the agent leaves before it is told', async () => {
  answer = { type: 'text/event-stream', status: 200, pieces: ['data: {"type":"x"}\n\n'] }
  for (const part of [{ previous_response_id: 'r' }, { conversation: 'c' }, { prompt: { id: 'p' } }]) {
    uses = []
    await (await post('/model/openai/v1/responses', { model: 'm', stream: true, ...part })).text()
    await expect.poll(() => uses).toMatchObject([{ input: expect.toSatisfy((n: number) => n > 400_000) }])
  }
})

it('takes the largest of the limits of an answer, since a provider may ignore the others', () => {
  const most = (limits: object): number =>
    prepareModelRequest('/v1/messages', Buffer.from(JSON.stringify(limits))).outputTokensMax
  expect(most({ max_completion_tokens: 1, max_tokens: 5_000 })).toBe(5_000)
  expect(most({ max_output_tokens: 1, max_tokens: 64_000 })).toBe(64_000)
  expect(most({ max_tokens: 7, max_output_tokens: null })).toBe(7)
  for (const limits of [
    {},
    { max_tokens: -1 },
    { max_tokens: 0 },
    { max_tokens: 5, max_output_tokens: 'all' },
  ])
    expect(most(limits)).toBe(32_000)
})

it.each([
  ['background', 'work that goes on after the answer', { background: true }],
  ['models', 'a choice among models', { models: ['dear'] }],
  ['plugins', 'plugins of OpenRouter', { plugins: [{ id: 'web' }] }],
  ['web_search_options', 'searches that are not told', { web_search_options: {} }],
  ['service_tier', 'a dearer tier', { service_tier: 'priority' }],
  ['speed', 'a dearer speed', { speed: 'fast' }],
  ['image_generation', 'images', { tools: [{ type: 'function' }, { type: 'image_generation' }] }],
])('refuses with "%s" %s, because nobody knows what it costs', async (field, _, part) => {
  const sent = await post('/model/openai/v1/responses', { model: 'm', ...part })
  expect([sent.status, await sent.text()]).toEqual([400, expect.stringContaining(field)])
  expect(asked).toEqual([])
})

it('opens no other path and no other provider', async () => {
  for (const path of [
    'anthropic/v1/organizations',
    'anthropic/v1/messages/../files',
    'elsewhere/v1/messages',
  ])
    expect((await post(`/model/${path}`, {})).status).toBe(404)
  expect((await post('/model/openai/v1/responses', 'no json')).status).toBe(400)
  expect(asked).toEqual([])
})

it('refuses a request of more values than an agent needs before it parses them', async () => {
  // A comma at the end is no JSON, so this would be refused for another reason if it were parsed.
  const sent = await post('/model/openai/v1/responses', `{"input":[${'[],'.repeat(125_000)}`)
  expect([sent.status, await sent.text()]).toEqual([400, expect.stringContaining('250000 values')])
  const text = '[1,2],'.repeat(300_000)
  expect((await post('/model/openai/v1/responses', { model: 'm', input: text })).status).toBe(200)
  expect(asked).toHaveLength(1)
})

it.each([
  ['anthropic/v1/messages', 'POST', ['GET', 'HEAD', 'DELETE', 'PUT']],
  ['anthropic/v1/messages/count_tokens', 'POST', ['GET']],
  // With the organization's key these would list its stored answers, or delete them.
  ['openai/v1/chat/completions', 'POST', ['GET', 'HEAD', 'DELETE']],
  ['openai/v1/responses', 'POST', ['GET', 'DELETE']],
  ['openai/v1/models', 'GET, HEAD', ['POST', 'DELETE']],
])('opens %s only for %s', async (path, allowed, refused) => {
  for (const method of refused) {
    const sent = await fetch(`${url}/model/${path}`, { method })
    expect([method, sent.status, sent.headers.get('allow')]).toEqual([method, 405, allowed])
  }
  expect(openedKeys).toBe(0)
  expect(asked).toEqual([])
  for (const method of allowed.split(', '))
    await (
      await fetch(`${url}/model/${path}`, { method, ...(method === 'POST' ? { body: '{}' } : {}) })
    ).text()
  expect(asked.map(({ method }) => method)).toEqual(allowed.split(', '))
})

it('keeps a report, up to its limit', async () => {
  expect((await post('/report', 'All done.')).status).toBe(204)
  expect(reports).toEqual(['All done.'])
  expect((await post('/report', 'x'.repeat(9_000))).status).toBe(413)
  const read = await fetch(`${url}/report`)
  expect([read.status, read.headers.get('allow')]).toEqual([405, 'POST'])
})
