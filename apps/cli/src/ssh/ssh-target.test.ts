import { expect, it } from 'vitest'
import { checkedHost, checkedPort, checkedUser, quotedPath, sshArguments } from './ssh-target.ts'

const id = '11111111-aaaa-4aaa-8aaa-aaaaaaaaaaaa'

it('accepts hosts and addresses', () => {
  for (const host of ['dock.example.com', 'localhost', '127.0.0.1', '2001:db8::1'])
    expect(checkedHost(host)).toBe(host)
})

it.each([
  '-oProxyCommand=touch /tmp/x',
  'a\n  ProxyCommand touch /tmp/x',
  'a b',
  'a;b',
  'a%h',
  'a"b',
  '-a.test',
  '',
  '.',
  'a..b',
  '$(id)',
  undefined,
  7,
])('refuses the host %j', (host) => {
  expect(() => checkedHost(host)).toThrow('not valid')
})

it('refuses ports and users that are none', () => {
  for (const port of [0, 65_536, 1.5, '22', '22\nProxyCommand x', null])
    expect(() => checkedPort(port)).toThrow('not valid')
  for (const user of ['-oProxyCommand=x', `${id}\n`, 'web', '', undefined])
    expect(() => checkedUser(user)).toThrow('not valid')
})

it('quotes paths for ssh', () => {
  expect(quotedPath('/a b/50%')).toBe('"/a b/50%%"')
  expect(() => quotedPath('/a\nb')).toThrow('line break')
})

it('ends the options before the host', () => {
  const args = sshArguments({ HOME: '/h' }, { host: 'a.test', port: 22 }, id, ['-A'])
  expect(args.slice(-3)).toEqual(['-A', '--', 'a.test'])
  expect(args).toContain(`User=${id}`)
})
