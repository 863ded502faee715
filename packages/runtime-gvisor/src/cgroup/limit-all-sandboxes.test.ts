import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { limitAllSandboxes } from './limit-all-sandboxes.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-all-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('version 1: the parent group of all sandboxes gets the limit', () => {
  const mount = { version: 1 as const, controllers: ['rw', 'memory'], root: '/', path: folder }
  expect(limitAllSandboxes([mount], 4096)).toEqual({ version: 1, folder: join(folder, 'dock') })
  expect(readFileSync(join(folder, 'dock/memory.limit_in_bytes'), 'utf8')).toBe('4096')
})

test('version 2: the controller is delegated, and the parent group gets the limit', () => {
  mkdirSync(join(folder, 'dock'))
  limitAllSandboxes([{ version: 2, controllers: ['rw'], root: '/', path: folder }], 4096)
  expect(readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8')).toBe('+memory')
  expect(readFileSync(join(folder, 'dock/memory.max'), 'utf8')).toBe('4096')
})
