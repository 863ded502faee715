/** Copies of several disks on one host share its pace. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { chunkBytes, newCopyKeys } from '@dock/copy-format'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CopyPace, nameChunks } from './copy-capture.ts'

const chunks = 4
let folder: string
let disk: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-pace-'))
  disk = join(folder, 'disk')
  await writeFile(disk, randomBytes(chunks * chunkBytes))
})
afterAll(() => rm(folder, { recursive: true }))

const readAll = (pace: CopyPace) => Array.fromAsync(nameChunks(disk, newCopyKeys(), pace))

it('reads three disks no faster than one', async () => {
  // Four chunks a second. A second of delay may be made up for, so that one disk alone does not wait.
  const pace = { bytesPerSecond: 4 * chunkBytes }
  const begin = performance.now()
  await Promise.all([1, 2, 3].map(() => readAll(pace)))
  expect(performance.now() - begin).toBeGreaterThan(((3 * chunks - 6) / 4) * 1000)
})

it('waits for commands with one reader at a time, and a reader that fails does not stop the others', async () => {
  let [active, most, calls] = [0, 0, 0]
  const pace: CopyPace = {
    bytesPerSecond: 2 ** 40,
    yieldToCommands: async () => {
      active += 1
      most = Math.max(most, active)
      calls += 1
      const fails = calls === 2
      await delay(5)
      active -= 1
      if (fails) throw new Error('no precedence')
    },
  }
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => readAll(pace)))
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(most).toBe(1)
})
