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
  expect(sshHosts(docks).map(({ host }) => host)).toEqual(['web', 'Web.main', 'web.other', 'web.main.org'])
})

it('writes ids for names that ssh would read as something else', () => {
  const names = ['*', '!web', 'a b', '-oProxyCommand=x', 'a\nProxyCommand x', 'a?', '"', null]
  const hosts = sshHosts(names.map((name, at) => named(String(at), name)))
  expect(hosts.map(({ host }) => host)).toEqual(hosts.map(({ dock }) => dock.id))
})

it('has nothing but the known lines', () => {
  const text = sshConfig({ HOME: '/h' }, { host: 'a.test', port: 22 }, sshHosts([named('1', 'web')]))
  expect(text.split('\n').map((line) => line.trim().split(' ')[0])).toEqual([
    ...['#', 'Host', 'HostName', 'Port', 'User', 'UserKnownHostsFile', 'StrictHostKeyChecking'],
    ...['ServerAliveInterval', ''],
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
