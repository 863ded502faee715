/** What an operator's list opens, and what stays closed whatever it says. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createOwnHosts, isOwnHost } from './own-hosts.ts'
import { postToPublicUrl } from './post-public.ts'
import { checkPublicUrl } from './public-url.ts'
import { resolvePublic } from './resolve-public.ts'

const machine = '10.0.0.5'
const listed = (...list: string[]) => createOwnHosts(list, () => [machine])
const isAccepted = (url: string, ...list: string[]): boolean =>
  !('problem' in checkPublicUrl(url, { own: listed(...list) }))
/** Resolves with whether a request to the URL is allowed if its name has these addresses. */
const reaches = async (url: string, addresses: string[], ...list: string[]): Promise<boolean> => {
  const own = listed(...list)
  const target = checkPublicUrl(url, { own })
  if ('problem' in target) return false
  return (await resolvePublic(target, { own, resolver: async () => addresses })).error === null
}

describe('a network in the list', () => {
  it('is reached by its addresses and by names that lead there, on port 443', async () => {
    expect(isAccepted('https://10.1.2.3/hook', '10.0.0.0/8')).toBe(true)
    expect(await reaches('https://hooks.corp.internal/', ['10.1.2.3'], '10.0.0.0/8')).toBe(true)
    expect(await reaches('https://hooks/', ['fd12::1'], 'fd12::/16')).toBe(true)
    expect(await reaches('https://hooks.example.com/', ['10.1.2.3', '93.184.215.14'], '10.0.0.0/8')).toBe(
      true,
    )
    expect(isAccepted('https://10.1.2.3:8443/', '10.0.0.0/8')).toBe(false)
    expect(isAccepted('http://10.1.2.3/', '10.0.0.0/8')).toBe(false)
  })

  it('opens no other network', async () => {
    expect(isAccepted('https://192.168.1.1/', '10.0.0.0/8')).toBe(false)
    expect(await reaches('https://hooks.corp.internal/', ['192.168.1.1'], '10.0.0.0/8')).toBe(false)
    expect(await reaches('https://hooks.corp.internal/', ['10.1.2.3', '192.168.1.1'], '10.0.0.0/8')).toBe(
      false,
    )
  })
})

describe('a host in the list', () => {
  it('is reached at private addresses, on 443 and on its port', async () => {
    expect(await reaches('https://hooks.corp.internal/', ['10.1.2.3'], 'hooks.corp.internal')).toBe(true)
    expect(await reaches('https://hooks:8443/', ['192.168.1.1'], 'hooks:8443')).toBe(true)
    expect(await reaches('https://HOOKS.corp/', ['fd12::1'], 'hooks.CORP')).toBe(true)
    expect(isAccepted('https://10.1.2.3:8443/', '10.1.2.3:8443')).toBe(true)
    expect(isAccepted('https://[fd12::1]:8443/', '[fd12::1]:8443')).toBe(true)
  })

  it('opens no other name, port or address', async () => {
    expect(isAccepted('https://other.corp.internal/', 'hooks.corp.internal')).toBe(false)
    expect(isAccepted('https://a.hooks.corp.internal/', 'hooks.corp.internal')).toBe(false)
    expect(isAccepted('https://hooks.corp.internal:22/', 'hooks.corp.internal')).toBe(false)
    expect(isAccepted('https://10.1.2.3/', 'hooks.corp.internal')).toBe(false)
    expect(await reaches('https://other.example.com/', ['10.1.2.3'], 'hooks.corp.internal')).toBe(false)
  })
})

describe('whatever the list says', () => {
  const never = [
    ...['127.0.0.1', '127.1.2.3', '::1', '0.0.0.0', '::', '169.254.169.254', 'fe80::1', '168.63.129.16'],
    ...[
      '100.100.100.200',
      'fd00:ec2::254',
      '::ffff:10.1.2.3',
      '::ffff:127.0.0.1',
      '64:ff9b::a01:203',
      machine,
    ],
    ...['2002:a01:203::1', '224.0.0.1', '255.255.255.255', 'fd20:ce::254'],
  ]
  it.each(never)('%s stays closed to networks and to names that move there', async (address) => {
    const all = ['0.0.0.0/0', '::/0', 'hooks.corp.internal']
    expect(await reaches('https://hooks.corp.internal/', [address], ...all)).toBe(false)
    expect(await reaches('https://hooks.corp.internal/', ['10.1.2.3', address], ...all)).toBe(false)
    expect(await reaches('https://other.example.com/', [address], ...all)).toBe(false)
    expect(isAccepted(`https://${address.includes(':') ? `[${address}]` : address}/`, ...all)).toBe(false)
  })

  it.each(['127.0.0.1', '169.254.169.254', machine])(
    '%s opens if it is itself in the list',
    async (address) => {
      expect(isAccepted(`https://${address}/`, address)).toBe(true)
      expect(await reaches('https://hooks.corp.internal/', [address], address, 'hooks.corp.internal')).toBe(
        true,
      )
    },
  )

  it('names of loopback stay closed', () => {
    for (const url of ['https://localhost/', 'https://a.localhost/'])
      expect(isAccepted(url, '0.0.0.0/0', '::/0', '127.0.0.1')).toBe(false)
  })
})

it('the addresses of this machine are closed', () => {
  const own = createOwnHosts(['0.0.0.0/0', '::/0'])
  const addresses = () =>
    Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? [])
  const before = addresses()
  expect(before).toContain('127.0.0.1')
  const open = before.filter((address) => own.allows(address, true))
  // Other tests remove interfaces meanwhile.
  const after = new Set(addresses())
  expect(open.filter((address) => after.has(address))).toEqual([])
})

it.each([
  ...['10.0.0.0/8', 'fd00::/8', '10.1.2.3', 'fd00::1', '[fd00::1]:8443', 'hooks', 'hooks.corp:8443'].map(
    (text) => [text, true],
  ),
  ...[
    '10.0.0.0/33',
    'hooks/8',
    'https://hooks',
    'user@hooks',
    'hooks:0x',
    'a b',
    '',
    '10.0.0.0/8/8',
    'hooks?x',
  ].map((text) => [text, false]),
])('%j may stand in the list: %s', (text, may) => {
  expect(isOwnHost(String(text))).toBe(may)
})

it('a request reaches a listed receiver, and none that is not listed', async () => {
  let connections = 0
  const receiver = createServer((socket) => {
    connections += 1
    socket.on('error', () => undefined).destroy()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const { port } = receiver.address() as AddressInfo
  const post = { url: `https://127.0.0.1:${port}/`, headers: {}, body: '{}', deadlineMs: 5_000 }
  expect(await postToPublicUrl(post)).toMatchObject({ error: 'address_not_public' })
  expect(await postToPublicUrl({ ...post, own: createOwnHosts(['127.0.0.0/8']) })).toMatchObject({
    error: 'address_not_public',
  })
  expect(connections).toBe(0)
  // It speaks no TLS, but it was reached.
  expect(await postToPublicUrl({ ...post, own: createOwnHosts([`127.0.0.1:${port}`]) })).toMatchObject({
    error: 'tls_failed',
  })
  expect(connections).toBe(1)
  receiver.close()
})
