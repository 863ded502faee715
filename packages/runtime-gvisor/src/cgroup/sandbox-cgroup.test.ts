import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type CgroupMount, freezeWithRetries, requireCgroups, SandboxCgroup } from './sandbox-cgroup.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-cgroup-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Creates the files of a fake control group, by relative path. */
const place = (files: Record<string, string>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
const read = (path: string): string => readFileSync(join(folder, path), 'utf8')

const one = (controller: string): CgroupMount => ({
  ...{ version: 1, controllers: ['rw', controller], root: '/', path: join(folder, controller) },
})

test('version 1: each controller has its own hierarchy', async () => {
  place({
    'freezer/dock/id/freezer.state': 'THAWED',
    'cpu/dock/id/cpu.cfs_quota_us': '',
    'cpu/dock/id/cpu.shares': '128',
    'cpuacct/dock/id/cpuacct.usage': '5000000\n',
    'memory/dock/id/memory.usage_in_bytes': '1000\n',
    'memory/dock/id/memory.stat': 'inactive_file 5\ntotal_inactive_file 400\n',
  })
  const mounts = ['cpu', 'cpuacct', 'freezer', 'memory'].map(one)
  const membership = '6:freezer:/dock/id\n4:memory:/dock/id\n2:cpuacct:/dock/id\n1:cpu:/dock/id\n0::/\n'
  const cgroup = new SandboxCgroup(mounts, membership, 'id')
  await cgroup.freeze()
  expect(read('freezer/dock/id/freezer.state')).toBe('FROZEN')
  cgroup.thaw()
  expect(read('freezer/dock/id/freezer.state')).toBe('THAWED')
  cgroup.limitCpus(1.5)
  expect(read('cpu/dock/id/cpu.cfs_quota_us')).toBe('150000')
  cgroup.shareEqually()
  expect(read('cpu/dock/id/cpu.shares')).toBe('1024')
  expect(await cgroup.usage()).toEqual({ cpuUsec: 5000, memoryBytes: 600 })
})

test('a machine without the needed controllers is refused with a hint; complete version 1 or 2 is accepted', () => {
  const mounts = ['cpu', 'cpuacct', 'freezer', 'memory'].map(one)
  expect(() => requireCgroups(mounts)).not.toThrow()
  expect(() =>
    requireCgroups([{ version: 2, controllers: [], root: '/', path: '/sys/fs/cgroup' }]),
  ).not.toThrow()
  expect(() => requireCgroups(mounts.slice(0, 2))).toThrow(
    'cgroup controllers freezer, memory are not mounted',
  )
  expect(() => requireCgroups([])).toThrow('nsenter')
})

test('version 2: one hierarchy, mounted below its root', async () => {
  place({
    'slice/id/cgroup.freeze': '0',
    'slice/id/cgroup.events': 'populated 1\nfrozen 1\n',
    'slice/id/cpu.max': '',
    'slice/id/cpu.weight': '5',
    'slice/id/cpu.stat': 'usage_usec 5000\nuser_usec 1\n',
    'slice/id/memory.current': '1000\n',
    'slice/id/memory.stat': 'inactive_file 400\n',
  })
  const mounts: CgroupMount[] = [{ version: 2, controllers: ['rw'], root: '/outer', path: folder }]
  const cgroup = new SandboxCgroup(mounts, '0::/outer/slice/id\n', 'id')
  await cgroup.freeze()
  expect(read('slice/id/cgroup.freeze')).toBe('1')
  cgroup.thaw()
  expect(read('slice/id/cgroup.freeze')).toBe('0')
  cgroup.limitCpus(2)
  expect(read('slice/id/cpu.max')).toBe('200000 100000')
  cgroup.shareEqually()
  expect(read('slice/id/cpu.weight')).toBe('100')
  expect(await cgroup.usage()).toEqual({ cpuUsec: 5000, memoryBytes: 600 })
})

test('a group is found by name only, in either version', () => {
  place({ 'freezer/dock/id/freezer.state': 'THAWED', 'two/dock/id/cgroup.freeze': '0' })
  SandboxCgroup.named([one('freezer')], 'id').orderFreeze()
  expect(read('freezer/dock/id/freezer.state')).toBe('FROZEN')
  const unified: CgroupMount = {
    ...{ version: 2, controllers: ['rw'], root: '/outer', path: join(folder, 'two') },
  }
  SandboxCgroup.named([unified], 'id').orderFreeze()
  expect(read('two/dock/id/cgroup.freeze')).toBe('1')
})

test('a group that does not belong to the sandbox is not touched', async () => {
  place({ 'cgroup.freeze': '0' })
  const mounts: CgroupMount[] = [{ version: 2, controllers: ['rw'], root: '/', path: folder }]
  const cgroup = new SandboxCgroup(mounts, '0::/\n', 'id')
  await expect(cgroup.freeze()).rejects.toThrow('has no own control group')
  expect(() => cgroup.thaw()).toThrow('has no own control group')
  expect(read('cgroup.freeze')).toBe('0')
})

test('a group that stays in FREEZING is thawed and frozen again', async () => {
  const orders: string[] = []
  const group = {
    freeze: () => void orders.push('freeze'),
    thaw: () => void orders.push('thaw'),
    isFrozen: () => orders.length === 5,
  }
  expect(await freezeWithRetries(group)).toBe(true)
  expect(orders).toEqual(['freeze', 'thaw', 'freeze', 'thaw', 'freeze'])
})
