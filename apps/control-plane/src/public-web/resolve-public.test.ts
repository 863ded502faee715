/** Tests how the addresses from name servers are handled. */
import { forbiddenRanges } from '@dock/testkit/src/public-web/forbidden-addresses.ts'
import { describe, expect, it, vi } from 'vitest'
import { postToPublicUrl } from './post-public.ts'
import { checkPublicUrl, type PublicUrl } from './public-url.ts'
import { type AddressResolver, resolvePublic } from './resolve-public.ts'

const parse = (text: string, allowLoopback = false): PublicUrl => {
  const checked = checkPublicUrl(text, { allowLoopback })
  if ('problem' in checked) throw new Error(checked.problem)
  return checked
}

const target = parse('https://hooks.example.com/')
const resolve = (...addresses: string[]) => resolvePublic(target, { resolver: async () => addresses })

it('tells all addresses of a public name', async () => {
  expect(await resolve('8.8.8.8', '2606:4700::1')).toEqual({
    addresses: ['8.8.8.8', '2606:4700::1'],
    error: null,
  })
})

describe('refuses a name', () => {
  it.each(forbiddenRanges.map(({ range, addresses }) => [range, addresses[0]![0]]))(
    'with one public address and one of %s: %s',
    async (_range, address) => {
      const refusals = [
        await resolve('8.8.8.8', address),
        await resolve(address, '8.8.8.8'),
        await resolve(address),
      ]
      for (const refusal of refusals) {
        expect(refusal).toMatchObject({ error: 'address_not_public' })
        // A tenant must not learn what names resolve to inside the operator's network.
        expect(JSON.stringify(refusal)).not.toContain(address)
      }
    },
  )

  it.each<[string, AddressResolver]>([
    ['without an address', async () => []],
    ['with 33 addresses', async () => Array(33).fill('8.8.8.8')],
    ['whose name servers fail', () => Promise.reject(new Error('ESERVFAIL'))],
    ['whose name servers hang', () => new Promise(() => undefined)],
  ])('%s', async (_what, resolver) => {
    expect(await resolvePublic(target, { resolver, deadlineMs: 50 })).toMatchObject({ error: 'dns_failed' })
  })

  it('that moves to a private address between two posts', async () => {
    const resolver = vi
      .fn<AddressResolver>()
      .mockResolvedValueOnce(['8.8.8.8'])
      .mockResolvedValue(['10.0.0.1'])
    expect(await resolvePublic(target, { resolver })).toMatchObject({ error: null })
    const post = { url: target.url.href, headers: {}, body: '', deadlineMs: 5_000, resolver }
    expect(await postToPublicUrl(post)).toMatchObject({ error: 'address_not_public' })
    expect(resolver).toHaveBeenCalledTimes(2)
  })
})

it('asks no name server for an address or a loopback name', async () => {
  expect(await resolvePublic(parse('https://8.8.8.8/'))).toEqual({ addresses: ['8.8.8.8'], error: null })
  expect(await resolvePublic(parse('http://localhost:3000/', true))).toEqual({
    addresses: ['127.0.0.1', '::1'],
    error: null,
  })
})

it('keeps a URL of development on loopback', async () => {
  const resolver = async () => ['127.0.0.1', '8.8.8.8']
  expect(await resolvePublic(parse('http://a.localhost:3000/', true), { resolver })).toMatchObject({
    error: 'address_not_public',
  })
})

it('rejects with the reason of the signal', async () => {
  const resolver = (): Promise<string[]> => new Promise(() => undefined)
  const signal = AbortSignal.abort(new Error('the server stops'))
  await expect(resolvePublic(target, { resolver, signal })).rejects.toThrow('the server stops')
})
