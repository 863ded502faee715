/** Which addresses are public: the vectors, and random addresses compared with node's own lists. */

import { randomBytes } from 'node:crypto'
import { BlockList, isIP } from 'node:net'
import {
  forbiddenRanges,
  notAddresses,
  publicAddresses,
} from '@dock/testkit/src/public-web/forbidden-addresses.ts'
import { describe, expect, it } from 'vitest'
import { isLoopbackAddress, isPublicAddress } from './public-address.ts'

describe('not public', () => {
  for (const { range, addresses } of forbiddenRanges)
    it.each(addresses)(`${range}: %s, %s`, (address) => expect(isPublicAddress(address)).toBe(false))
  it.each(notAddresses)('no address: %j, %s', (text) => expect(isPublicAddress(text)).toBe(false))
})

describe('public', () => {
  it.each(publicAddresses)('%s, %s', (address) => expect(isPublicAddress(address)).toBe(true))
})

it('has at least 150 forbidden addresses', () => {
  expect(forbiddenRanges.flatMap(({ addresses }) => addresses).length).toBeGreaterThanOrEqual(150)
})

it.each([
  ['IPv4', 4],
  ['IPv6', 6],
] as const)('agrees with ranges that node reads, for random addresses of %s', (_name, family) => {
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  const forbidden = new BlockList()
  for (const { range } of forbiddenRanges) {
    const [start = '', prefix] = range.split('/')
    // Node lets a range of IPv4-mapped addresses match IPv4 itself, so each family has a list of its own.
    if (isIP(start) === family && /^\d+$/.test(prefix ?? '')) forbidden.addSubnet(start, Number(prefix), kind)
  }
  const globalUnicast = new BlockList()
  globalUnicast.addSubnet('2000::', 3, 'ipv6')
  let open = 0
  for (let round = 0; round < 20_000; round++) {
    const bytes = randomBytes(family === 4 ? 4 : 16)
    // Half of the random addresses start like a range: most of IPv6 would be outside of all of them.
    if (family === 6 && round % 2 === 0) bytes.set([0x20, bytes[1]! % 4], 0)
    const address = family === 4 ? bytes.join('.') : bytes.toString('hex').match(/.{4}/g)!.join(':')
    const expected = !forbidden.check(address, kind) && (family === 4 || globalUnicast.check(address, kind))
    if (isPublicAddress(address) !== expected) expect.fail(`${address}: expected ${expected}`)
    if (expected) open += 1
  }
  expect(open).toBeGreaterThan(1000)
})

it('tells loopback addresses, but none that carries one', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1'].map(isLoopbackAddress)).not.toContain(false)
  expect(
    ['::ffff:127.0.0.1', '::127.0.0.1', '0.0.0.0', '::', '128.0.0.1', '::1%lo'].map(isLoopbackAddress),
  ).not.toContain(true)
})
