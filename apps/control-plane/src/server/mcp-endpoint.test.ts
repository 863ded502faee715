import { ServiceError } from '@dock/contract'
import { createLogger } from '@dock/foundation'
import { Hono } from 'hono'
import { beforeEach, expect, it } from 'vitest'
import { failure, toServiceError } from './envelope.ts'
import { addMcpEndpoint } from './mcp-endpoint.ts'
import type { HttpEnvironment } from './request-context.ts'

let counted: string[]
let left: number
beforeEach(() => {
  counted = []
  left = 1
})

const logger = createLogger('test')
logger.level = 'silent'
const app = new Hono<HttpEnvironment>()
app.onError((error) => failure(toServiceError(error, logger)))
addMcpEndpoint(app, {
  logger,
  apiUrl: 'http://dock.test',
  origins: ['http://dock.test'],
  credentials: {
    check: async (request: Request) => {
      if (request.headers.get('authorization') === 'Bearer good') return { userId: 'somebody' }
      throw new ServiceError('unauthorized')
    },
  } as never,
  countRequest: async (userId) => {
    counted.push(userId)
    left -= 1
    if (left < 0) throw new ServiceError('rate_limited', { retryAfterSeconds: 7 })
  },
})
const post = (headers: Record<string, string>) =>
  app.request('/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })

it('counts the requests of a person, also those that call no route of the API', async () => {
  expect((await post({ authorization: 'Bearer good' })).status).toBe(200)
  const refused = await post({ authorization: 'Bearer good' })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '7'])
  expect(counted).toEqual(['somebody', 'somebody'])
})

it('counts nothing for strangers and for pages of other sites', async () => {
  expect((await post({ authorization: 'Bearer bad' })).status).toBe(401)
  expect((await post({ authorization: 'Bearer good', origin: 'https://evil.test' })).status).toBe(403)
  expect(counted).toEqual([])
})
