import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { memoryGroup } from './memory-group.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-memory-group-'))
})
afterEach(() => rmSync(folder, { recursive: true }))
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
const read = (name: string): string => readFileSync(join(folder, name), 'utf8')

test('version 1: page cache does not count as used memory, and the kernel reports a stuck group', () => {
  write('memory.usage_in_bytes', '1000\n')
  write('memory.stat', 'inactive_file 1\ntotal_inactive_file 300\ntotal_active_file 200\n')
  write('memory.oom_control', 'oom_kill_disable 1\nunder_oom 1\noom_kill 3\n')
  const group = memoryGroup(1, folder)
  expect(group.read()).toEqual({ chargedBytes: 1000, isStuck: true })
  expect(group.usedBytes()).toBe(500)
  expect(group.kernelKills()).toBe(3)
  group.setKernelKills(false)
  expect(read('memory.oom_control')).toBe('1')
  group.setLimit(4096)
  expect(read('memory.limit_in_bytes')).toBe('4096')
})

test('version 2: the group is stuck if it reached its limit since the last check, and changed events call the listener', async () => {
  write('memory.current', '1000\n')
  write('memory.stat', 'inactive_file 300\nactive_file 200\n')
  write('memory.events', 'low 0\nhigh 2\nmax 5\noom 0\noom_kill 1\n')
  const group = memoryGroup(2, folder)
  expect(group.read()).toEqual({ chargedBytes: 1000, isStuck: false })
  expect(group.usedBytes()).toBe(500)
  expect(group.kernelKills()).toBe(1)
  let rung = 0
  const end = group.listen([800, 950], () => rung++)
  expect(read('memory.high')).toBe('950')
  write('memory.events', 'low 0\nhigh 3\nmax 6\noom 0\noom_kill 1\n')
  await expect.poll(() => rung).toBeGreaterThan(0)
  expect(group.read().isStuck).toBe(true)
  expect(group.read().isStuck).toBe(false)
  group.setKernelKills(false)
  group.setLimit(4096)
  expect(read('memory.max')).toBe('4096')
  end()
})
