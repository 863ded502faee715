import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@dock/foundation'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { limitDeviceDirtyMemory } from './dirty-memory.ts'

const logger = createLogger('test')
logger.level = 'silent'
let devices: string
beforeEach(async () => {
  devices = await mkdtemp(join(tmpdir(), 'dock-devices-'))
})
afterEach(() => rm(devices, { recursive: true }))

/** What stands in the settings that a kernel has, once a device is limited. */
const limited = async (...settings: string[]): Promise<Record<string, string>> => {
  const folder = join(devices, 'loop7', 'bdi')
  await mkdir(folder, { recursive: true })
  for (const name of settings) await writeFile(join(folder, name), '')
  await limitDeviceDirtyMemory('loop7', logger, devices)
  const texts = settings.map(async (name) => [name, await readFile(join(folder, name), 'utf8')])
  return Object.fromEntries(await Promise.all(texts))
}

test('a device is limited in bytes where the kernel can', async () => {
  const found = await limited('max_bytes', 'max_ratio', 'strict_limit')
  expect(found).toEqual({ max_bytes: '67108864', max_ratio: '', strict_limit: '1' })
})

test('elsewhere it may have the same share of what the machine may', async () => {
  expect(await limited('max_ratio', 'strict_limit')).toEqual({ max_ratio: '25', strict_limit: '1' })
  expect(await limited('max_ratio')).toEqual({ max_ratio: '25' })
})
