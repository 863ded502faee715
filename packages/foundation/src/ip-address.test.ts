import { expect, it } from 'vitest'
import { isInNetwork, isSameAddress, networkOf, parseIp, parseNetwork, wideNetworkOf } from './ip-address.ts'

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:203.0.113.5', '203.0.113.5'],
  ['::FFFF:203.0.113.5', '203.0.113.5'],
  ['local', 'local'],
  ['', ''],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8::5', '2001:db8:0:0::/64'],
  ['2001:db8::192.0.2.1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

it.each([
  ['203.0.113.5', '203.0.113.0/24'],
  ['::ffff:203.0.113.5', '203.0.113.0/24'],
  ['2001:db8:aa:bb::1', '2001:db8:aa::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['fe80::1%eth0', 'fe80:0:0::/48'],
  ['', ''],
])('the sender of %s may have %s', (address, network) => {
  expect(wideNetworkOf(address)).toBe(network)
})

it.each([
  '',
  'example.com',
  '127.1',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '2130706433',
  '1.2.3.04',
  ' 1.2.3.4',
  '1.2.3.4/8',
  '[::1]',
  'fe80::1%eth0',
  '1:::2',
])('%j is no address', (text) => {
  expect(parseIp(text)).toBeUndefined()
})

it.each([
  '10.0.0.0/33',
  '::/129',
  '10.0.0.0/8/9',
  '10.0.0.0/x',
  '10.0.0.0/',
  '10.0.0/8',
  'proxy.example',
  '/8',
])('%j is no network', (text) => {
  expect(parseNetwork(text)).toBeUndefined()
})

it.each([
  ['10.255.0.1', '10.0.0.0/8', true],
  ['11.0.0.1', '10.0.0.0/8', false],
  ['10.1.2.3', '10.1.2.3', true],
  ['203.0.113.1', '0.0.0.0/0', true],
  ['fd12::1', 'fd12::/16', true],
  ['fd13::1', 'fd12::/16', false],
  ['::1', '::1/128', true],
  ['::ffff:10.0.0.1', '10.0.0.0/8', false],
  ['::ffff:10.0.0.1', '::ffff:0:0/96', true],
  ['10.0.0.1', '::/0', false],
])('%s in %s: %s', (address, network, isInside) => {
  expect(isInNetwork(parseIp(address)!, parseNetwork(network)!)).toBe(isInside)
})

it('compares addresses, not their spelling', () => {
  expect(isSameAddress('2606:0:0::1', '2606::0001')).toBe(true)
  expect(isSameAddress('8.8.8.8', '8.8.8.8')).toBe(true)
  expect(isSameAddress('8.8.8.8', '8.8.4.4')).toBe(false)
  expect(isSameAddress('0.0.0.1', '::1')).toBe(false)
  expect(isSameAddress('fe80::1%eth0', 'fe80::1%eth0')).toBe(false)
})
