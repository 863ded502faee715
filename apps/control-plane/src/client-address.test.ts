import { expect, it } from 'vitest'
import { createClientAddress, isNetwork } from './client-address.ts'

const proxies = ['10.0.0.0/8', '192.0.2.9', '2001:db8:aa::/48']

it.each([
  // peer, header, the client
  ['203.0.113.5', null, '203.0.113.5'],
  ['::ffff:203.0.113.5', null, '203.0.113.5'],
  [undefined, null, 'local'],
  // The peer is not a trusted proxy, so its header is ignored.
  ['203.0.113.5', '198.51.100.1', '203.0.113.5'],
  ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
  ['10.1.2.3', ' 1.1.1.1 , 198.51.100.1, 192.0.2.9', '198.51.100.1'],
  ['10.1.2.3', '1.1.1.1, 192.0.2.9, 10.9.9.9', '1.1.1.1'],
  ['2001:db8:aa::1', '2001:db8:bb::7', '2001:db8:bb::7'],
  ['10.1.2.3', '[2001:db8:bb::7]:4711', '2001:db8:bb::7'],
  ['10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
  ['10.1.2.3', null, '10.1.2.3'],
  ['10.1.2.3', 'unknown', '10.1.2.3'],
  ['10.1.2.3', '198.51.100.1, nonsense', '10.1.2.3'],
])('peer %s that forwards for %s is %s', (peer, header, client) => {
  expect(createClientAddress(proxies)(peer, header)).toBe(client)
})

it('trusts nobody by default', () => {
  expect(createClientAddress([])('127.0.0.1', '198.51.100.1')).toBe('127.0.0.1')
})

it('accepts addresses and CIDR networks, and refuses everything else', () => {
  for (const right of ['127.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0'])
    expect(isNetwork(right)).toBe(true)
  for (const wrong of [
    '',
    'proxy.example',
    '10.0.0.0/33',
    '10.0.0/8',
    '::/129',
    '10.0.0.0/8/9',
    '10.0.0.0/x',
  ])
    expect(isNetwork(wrong), wrong).toBe(false)
})
