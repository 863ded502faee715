import { rateLimits } from '@dock/contract'
import { createLogger } from '@dock/foundation'
import { type RedisServer, startRedis } from '@dock/testkit/src/redis-server.ts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createRateLimits, type RateLimits } from './rate-limits.ts'
import { type CounterStore, openRedisCounters } from './redis-counters.ts'

const logger = createLogger('test')
logger.level = 'silent'

const code = (work: Promise<void>): Promise<string> =>
  work.then(
    () => 'taken',
    (error: { code: string }) => error.code,
  )
const take = async (limits: RateLimits, subject: string, times: number): Promise<string[]> => {
  const codes: string[] = []
  for (let count = 0; count < times; count++) codes.push(await code(limits.take('contactMessages', subject)))
  return codes
}

let server: RedisServer
const stores: CounterStore[] = []
const patientMs = 10_000
const connected = async (url: string, timeoutMs = patientMs): Promise<CounterStore> => {
  const store = await openRedisCounters(url, logger, timeoutMs)
  stores.push(store)
  await vi.waitFor(() => expect(store.client.status).toBe('ready'), { timeout: 60_000 })
  return store
}
beforeAll(async () => {
  server = await startRedis()
})
afterAll(async () => {
  for (const store of stores) store.close()
  await server?.stop()
})

describe.each([
  ['memory', async () => null],
  ['a Redis server', () => connected(server.url)],
])('limits counted in %s', (kind, open) => {
  it('allow the number of calls in the contract, for each subject and name', async () => {
    const limits = createRateLimits(await open())
    const { max } = rateLimits.contactMessages
    expect(max).toBe(3)
    expect(await take(limits, `${kind} a`, 5)).toEqual([
      'taken',
      'taken',
      'taken',
      'rate_limited',
      'rate_limited',
    ])
    expect(await take(limits, `${kind} b`, 1)).toEqual(['taken'])
    expect(await code(limits.take('deviceSignIns', `${kind} a`))).toBe('taken')
  })

  it('hold for concurrent calls', async () => {
    const limits = createRateLimits(await open())
    const codes = await Promise.all(
      Array.from({ length: 50 }, () => code(limits.take('contactMessages', `${kind} r`))),
    )
    expect(codes.filter((each) => each === 'taken')).toHaveLength(3)
  })

  it('say when to retry', async () => {
    const limits = createRateLimits(await open())
    await take(limits, `${kind} c`, 3)
    await expect(limits.take('contactMessages', `${kind} c`)).rejects.toMatchObject({
      status: 429,
      message: expect.stringMatching(/^At most 3 requests in 3600 seconds\. Retry in 3[56]\d\d seconds\.$/),
    })
  })

  it('count an IPv6 client by its /64', async () => {
    const limits = createRateLimits(await open())
    await take(limits, '2001:db8::1', 3)
    expect(await take(limits, '2001:db8::ffff:2', 1)).toEqual(['rate_limited'])
    expect(await take(limits, '2001:db8:0:1::1', 1)).toEqual(['taken'])
  })
})

describe('a shared store', () => {
  it('counts the calls of two control planes together', async () => {
    const [one, two] = [
      createRateLimits(await connected(server.url)),
      createRateLimits(await connected(server.url)),
    ]
    expect([...(await take(one, 'shared', 2)), ...(await take(two, 'shared', 2))]).toEqual([
      'taken',
      'taken',
      'taken',
      'rate_limited',
    ])
  })

  it('causes refusals while it hangs, is down or was never up, and works again afterwards', async () => {
    const own = await startRedis()
    const limits = createRateLimits(await connected(own.url, 500))
    own.pause()
    expect(await take(limits, 'x', 1)).toEqual(['service_unavailable'])
    own.resume()
    await vi.waitFor(async () => expect(await take(limits, `y${Math.random()}`, 1)).toEqual(['taken']), {
      timeout: 60_000,
    })
    await own.stop()
    expect(await take(limits, 'x', 1)).toEqual(['service_unavailable'])
    const again = await startRedis(own.port)
    await vi.waitFor(async () => expect(await take(limits, `z${Math.random()}`, 1)).toEqual(['taken']), {
      timeout: 60_000,
    })
    await again.stop()
    const never = await openRedisCounters(own.url, logger)
    stores.push(never)
    expect(await take(createRateLimits(never), 'x', 1)).toEqual(['service_unavailable'])
  })
})
