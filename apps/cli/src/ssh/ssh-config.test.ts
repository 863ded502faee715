import type { DockInfo } from '@dock/sdk'
import { expect, it } from 'vitest'
import type { LongNamed } from '../docks/long-names.ts'
import { sshConfig, sshHosts, withInclude } from './ssh-config.ts'

const named = (digit: string, name: string | null, workspace = 'main'): LongNamed => {
  const id = `${digit.repeat(8)}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`
  const names = name === null ? [] : [name, `${name}.${workspace}`, `${name}.${workspace}.org`]
  return { id, dock: { id, name } as DockInfo, names }
}

it('gives the second of two Docks with one name its longer name', () => {
  const docks = [named('1', 'web'), named('2', 'Web'), named('3', 'web', 'other'), named('4', 'web')]
  expect(sshHosts(docks).map(({ host }) => host)).toEqual([
    'web.dock',
    'Web.main.dock',
    'web.other.dock',
    'web.main.org.dock',
  ])
})

it('takes no connection that the user makes to another machine', () => {
  const names = ['prod-1', 'github.com', 'localhost', 'web', '10.0.0.1']
  const hosts = sshHosts(names.map((name, at) => named(String(at), name)))
  const text = sshConfig({ HOME: '/h' }, { host: 'a.test', port: 22 }, hosts)
  // Patterns of the user's configuration, DNS and /etc/hosts know more names than can be looked up here.
  expect(text.match(/^Host .*/gm)).toEqual(names.map((name) => `Host ${name}.dock`))
})

it('writes ids for names that ssh would read as something else', () => {
  const names = ['*', '!web', 'a b', '-oProxyCommand=x', 'a\nProxyCommand x', 'a?', '"', null]
  const hosts = sshHosts(names.map((name, at) => named(String(at), name)))
  expect(hosts.map(({ host }) => host)).toEqual(hosts.map(({ dock }) => `${dock.id}.dock`))
})

it('has nothing but the known lines', () => {
  const text = sshConfig({ HOME: '/h' }, { host: 'a.test', port: 22 }, sshHosts([named('1', 'web')]))
  expect(text.split('\n').map((line) => line.trim().split(' ')[0])).toEqual([
    '#',
    'Host',
    'HostName',
    'Port',
    'User',
    'UserKnownHostsFile',
    'StrictHostKeyChecking',
    'ServerAliveInterval',
    '',
  ])
  expect(() =>
    sshConfig({}, { host: 'a\nProxyCommand x', port: 22 }, sshHosts([named('1', 'web')])),
  ).toThrow()
})

it('is included once, before everything else', () => {
  const config = withInclude('Host a\n  Port 1\n')
  expect(config).toBe('Include dock_config\n\nHost a\n  Port 1\n')
  expect(withInclude(config)).toBe(config)
})
