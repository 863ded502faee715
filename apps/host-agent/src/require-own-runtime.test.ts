import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runFolder } from '@dock/testkit/src/run-folder.ts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { requireOwnRuntime } from './require-own-runtime.ts'

let hostFolder: string
beforeEach(async () => {
  hostFolder = await mkdtemp(join(runFolder(), 'own-runtime-'))
})
afterEach(() => rm(hostFolder, { recursive: true }))

const start = (runtime: 'gvisor' | 'microvm', kept: { disks?: number; captures?: number } = {}) =>
  requireOwnRuntime({ hostFolder, runtime, listKept: async () => ({ disks: 0, captures: 0, ...kept }) })
const note = () => join(hostFolder, 'runtime')

it('a host that keeps disks or captures starts only under the runtime that made them', async () => {
  await start('microvm')
  for (const kept of [{ disks: 1 }, { captures: 1 }]) {
    await start('microvm', kept)
    await expect(start('gvisor', kept)).rejects.toThrow(
      /made under microvm \(Docks: [01], Snapshots: [01]\), and gvisor must not boot them. Start it with DOCK_RUNTIME=microvm/,
    )
  }
  expect(await readFile(note(), 'utf8')).toBe('microvm\n')
})

it('an empty host changes its runtime', async () => {
  await start('microvm')
  await start('gvisor')
  await start('gvisor', { disks: 1 })
  await expect(start('microvm', { disks: 1 })).rejects.toThrow('made under gvisor')
})

it('disks of a host without a note were made under gVisor', async () => {
  await expect(start('microvm', { captures: 1 })).rejects.toThrow('made under gvisor')
  await start('gvisor', { captures: 1 })
})

it('a note that cannot be understood refuses every runtime while there are disks', async () => {
  await writeFile(note(), '')
  for (const runtime of ['gvisor', 'microvm'] as const)
    await expect(start(runtime, { disks: 1 })).rejects.toThrow('must not boot them')
})
