import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createInstanceMemory } from './instance-memory.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-instance-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const startId = '0b0b4c4e-6f43-4b54-8f6f-0d6f4d8d5a02'
const at = (epoch: number, mark: number) => ({ epoch, startId, mark })
const memory = () => createInstanceMemory(join(folder, 'instance.json'))

it('remembers the latest watermark and every erasure, also after a restart', async () => {
  const first = memory()
  expect(await first.read()).toEqual({ watermark: null, erasures: [] })
  const [ada, team] = [
    { kind: 'person' as const, id: 'ada', mac: 'a' },
    { kind: 'organization' as const, id: 'team', mac: 'a' },
  ]
  await first.keep({ watermark: at(0, 1), erasures: [ada] })
  await Promise.all([
    first.keep({ watermark: at(0, 2), erasures: [ada, team] }),
    first.keep({ watermark: at(0, 3), erasures: [] }),
  ])
  expect(await memory().read()).toEqual({ watermark: at(0, 3), erasures: [ada, team] })
})

it('keeps an erasure with the latest MAC, also if that message had none', async () => {
  const ada = { kind: 'person' as const, id: 'ada' }
  await writeFile(join(folder, 'instance.json'), JSON.stringify({ watermark: at(0, 1), erasures: [ada] }))
  const agent = memory()
  expect((await agent.read()).erasures).toEqual([ada])
  for (const mac of ['old', 'new']) await agent.keep({ watermark: at(0, 2), erasures: [{ ...ada, mac }] })
  expect((await memory().read()).erasures).toEqual([{ ...ada, mac: 'new' }])
})

it('refuses an order of an old epoch', async () => {
  await memory().keep({ watermark: at(2, 1), erasures: [] })
  await expect(memory().keep({ watermark: at(1, 9), erasures: [] })).rejects.toMatchObject({
    code: 'stale_generation',
  })
  await expect(memory().requireCurrent(1)).rejects.toMatchObject({ code: 'stale_generation' })
  await expect(memory().requireCurrent(undefined)).rejects.toMatchObject({ code: 'stale_generation' })
  await memory().requireCurrent(2)
})

it('never treats a damaged file as an empty one', async () => {
  await writeFile(join(folder, 'instance.json'), '{')
  await expect(memory().read()).rejects.toThrow()
})
