import dns from 'node:dns'
import { type SwiftServer, startSwift } from '@dock/testkit'
import { describeObjectStore } from '@dock/testkit/src/object-store-suite.ts'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createS3Store } from './s3-store.ts'

const bucket = 'copies'
let swift: SwiftServer
beforeAll(async () => {
  swift = await startSwift(bucket)
}, 120_000)
afterAll(() => swift.stop())

/** Endpoint for the bucket in the host name. Names below localhost resolve to this machine without a name server. */
const lookup = dns.lookup
vi.spyOn(dns, 'lookup').mockImplementation(((host: string, ...rest: never[]) =>
  (lookup as (...all: unknown[]) => void)(
    host.endsWith('.localhost') ? '127.0.0.1' : host,
    ...rest,
  )) as typeof dns.lookup)

const store = (options: Partial<Parameters<typeof createS3Store>[0]> = {}) =>
  createS3Store({
    ...swift,
    region: 'us-east-1',
    bucket,
    prefix: '',
    pathStyle: true,
    ...options,
  })

describeObjectStore('S3', async () => store())
describeObjectStore('S3, the bucket in the host name', async () =>
  store({ endpoint: swift.endpoint.replace('127.0.0.1', 'localhost'), pathStyle: false }),
)
describeObjectStore('S3 below a prefix', async () => store({ prefix: 'some/prefix' }))

it('fails with a wrong secret', async () => {
  await expect(store({ secretAccessKey: 'wrong' }).put('a/b', Buffer.from('x'))).rejects.toThrow()
})

it('does not see objects outside its prefix', async () => {
  await store().put('elsewhere/x', Buffer.from('x'))
  const seen: string[] = []
  for await (const object of store({ prefix: 'some/prefix' }).list('')) seen.push(object.key)
  expect(seen.some((key) => key.includes('elsewhere'))).toBe(false)
})
