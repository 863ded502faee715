/** Tests when templates are made, used and removed. The machines are simulated: a saved memory is a file with one byte. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@dock/foundation'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Machine, MachineSpec } from '../machine.ts'
import { openTemplates, type Templates, type TemplatesOptions } from './start-from-template.ts'

let folder: string
let memoryFiles: string[]
/** Machines that were started and not removed. */
let running: Set<string>
let agent: () => Promise<void>
let vmm: TemplatesOptions['vmm']

const machineOf = (spec: MachineSpec): Machine =>
  ({
    id: spec.id,
    pause: async () => undefined,
    saveMemory: async () => writeFileSync(spec.memoryFile!, 'm'),
  }) as unknown as Machine

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dock-templates-'))
  memoryFiles = []
  running = new Set()
  agent = async () => undefined
  const start = async (spec: MachineSpec) => {
    running.add(spec.id)
    return machineOf(spec)
  }
  vmm = {
    accelerator: 'tcg',
    launch: vi.fn(start),
    restore: vi.fn(async (spec, file) => {
      memoryFiles.push(file)
      return await start(spec)
    }),
    find: async () => null,
    remove: async (id) => void running.delete(id),
    list: async () => [...running],
  }
})
afterEach(() => rmSync(folder, { recursive: true }))

const open = (more: Partial<TemplatesOptions> = {}): Promise<Templates> =>
  openTemplates({
    ...{
      folder,
      vmm,
      tree: 'tree1',
      instance: 'test',
      logger: createLogger('test', { write: () => undefined }),
    },
    awaitAgent: () => agent(),
    ...more,
  })
const spec = (memoryMiB: number): MachineSpec => ({
  ...{ id: `m${memoryMiB}`, cpus: 1, memoryMiB, disk: '/disk', netnsPath: null },
})
const kept = () => readdirSync(folder).map((name) => /-(\d+)\.memory$/.exec(name)?.[1] ?? name)
/** Makes the template of a size look as if it was last used at this second. */
const usedAt = (memoryMiB: number, second: number): void => {
  const name = readdirSync(folder).find((each) => each.endsWith(`-${memoryMiB}.memory`))!
  utimesSync(join(folder, name), second, second)
}

test('a size boots until its template exists, then continues from it', async () => {
  const templates = await open()
  expect((await templates.start(spec(512))).isRestored).toBe(false)
  await templates.make({ cpus: 1, memoryMiB: 512 })
  expect(kept()).toEqual(['512'])
  expect(running).toEqual(new Set(['m512']))
  expect((await templates.start(spec(512))).isRestored).toBe(true)
  expect((await templates.start(spec(1024))).isRestored).toBe(false)
})

test('a template is made once, however many ask for it', async () => {
  const templates = await open()
  const size = { cpus: 1, memoryMiB: 512 }
  await Promise.all([templates.make(size), templates.make(size)])
  await templates.make(size)
  expect(vmm.launch).toHaveBeenCalledTimes(1)
})

test('the template that was used longest ago makes room for a new one', async () => {
  const templates = await open({ countMax: 2 })
  for (const [index, memoryMiB] of [512, 1024].entries()) {
    await templates.make({ cpus: 1, memoryMiB })
    usedAt(memoryMiB, 1000 + index)
  }
  await templates.start(spec(512))
  await templates.make({ cpus: 1, memoryMiB: 2048 })
  expect(kept().sort()).toEqual(['2048', '512'])
})

test('a template that cannot be used is removed, and the machine boots', async () => {
  const templates = await open()
  await templates.make({ cpus: 1, memoryMiB: 512 })
  vi.mocked(vmm.restore).mockRejectedValueOnce(new Error('another version'))
  expect((await templates.start(spec(512))).isRestored).toBe(false)
  expect(kept()).toEqual([])
})

test('a discarded template is made again', async () => {
  const templates = await open()
  const size = { cpus: 1, memoryMiB: 512 }
  await templates.make(size)
  await templates.discard(size)
  await templates.discard(size)
  expect(kept()).toEqual([])
  expect((await templates.start(spec(512))).isRestored).toBe(false)
  await templates.make(size)
  expect(kept()).toEqual(['512'])
})

test('a template is kept if the machine does not boot without it either', async () => {
  const templates = await open()
  await templates.make({ cpus: 1, memoryMiB: 512 })
  vi.mocked(vmm.restore).mockRejectedValueOnce(new Error('no network'))
  vi.mocked(vmm.launch).mockRejectedValueOnce(new Error('no network'))
  await expect(templates.start(spec(512))).rejects.toThrow('no network')
  expect(kept()).toEqual(['512'])
})

test('a machine that does not become a template leaves nothing behind', async () => {
  const templates = await open()
  agent = () => Promise.reject(new Error('no agent'))
  await templates.make({ cpus: 1, memoryMiB: 512 })
  expect([kept(), [...running]]).toEqual([[], []])
  agent = async () => undefined
  await templates.make({ cpus: 1, memoryMiB: 512 })
  expect(kept()).toEqual(['512'])
})

test('templates of another tree or accelerator and half ones are removed at the start, the others stay', async () => {
  await (await open()).make({ cpus: 1, memoryMiB: 512 })
  writeFileSync(join(folder, '.new-half.memory'), '')
  mkdirSync(join(folder, 'tree0-tcg-1-00000000-1-512.memory'))
  await open()
  expect(kept()).toEqual(['512'])
  await open({ vmm: { ...vmm, accelerator: 'kvm' } })
  expect(kept()).toEqual([])
})
