import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@dock/foundation'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { limitDeviceDirtyMemory, limitDirtyMemory } from './dirty-memory.ts'

const logger = createLogger('test')
logger.level = 'silent'
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-dirty-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** The machine's limits after `limitDirtyMemory` has changed the given ones. */
const machineLimited = async (background: number, all: number): Promise<[string, string]> => {
  const [backgroundFile, allFile] = [join(folder, 'dirty_background_bytes'), join(folder, 'dirty_bytes')]
  await writeFile(backgroundFile, `${background}\n`)
  await writeFile(allFile, `${all}\n`)
  await limitDirtyMemory(logger, folder)
  return [(await readFile(backgroundFile, 'utf8')).trim(), (await readFile(allFile, 'utf8')).trim()]
}

test('sets the limits of the machine if they are wider or only a share of its memory', async () => {
  expect(await machineLimited(0, 0)).toEqual(['4194304', '268435456'])
  expect(await machineLimited(2 ** 26, 2 ** 28)).toEqual(['4194304', '268435456'])
  expect(await machineLimited(2 ** 30, 2 ** 31)).toEqual(['4194304', '268435456'])
})

test('keeps each stricter limit of an operator', async () => {
  expect(await machineLimited(2 ** 20, 2 ** 24)).toEqual(['1048576', '16777216'])
  expect(await machineLimited(2 ** 20, 0)).toEqual(['1048576', '268435456'])
  expect(await machineLimited(2 ** 23, 2 ** 24)).toEqual(['4194304', '16777216'])
})

/** The settings of a kernel with these files, after a device was limited. */
const limited = async (...settings: string[]): Promise<Record<string, string>> => {
  const device = join(folder, 'loop7', 'bdi')
  await mkdir(device, { recursive: true })
  for (const name of settings) await writeFile(join(device, name), '')
  await limitDeviceDirtyMemory('loop7', logger, folder)
  const texts = settings.map(async (name) => [name, await readFile(join(device, name), 'utf8')])
  return Object.fromEntries(await Promise.all(texts))
}

test('limits a device in bytes if the kernel supports that', async () => {
  const found = await limited('max_bytes', 'max_ratio', 'strict_limit')
  expect(found).toEqual({ max_bytes: '67108864', max_ratio: '', strict_limit: '1' })
})

test('on other kernels limits a device to the same share of what the machine may have', async () => {
  expect(await limited('max_ratio', 'strict_limit')).toEqual({ max_ratio: '25', strict_limit: '1' })
  expect(await limited('max_ratio')).toEqual({ max_ratio: '25' })
})
