import { spawn } from 'node:child_process'
import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runWithFewDescriptors } from '@dock/testkit/src/run-with-few-descriptors.ts'
import { uncaughtDuring } from '@dock/testkit/src/uncaught-during.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readDiskFile } from './capture-reader.ts'
import { lineLengthMax, linesOf } from './debugfs-process.ts'
import { openDebugfsSession } from './debugfs-session.ts'
import { walkTree } from './walk-tree.ts'

it('cuts a line that is too long, and keeps the lines around it', async () => {
  const program = `print "first\\n", "a" x 3_000_000, "\\nb", "c\\nunfinished"`
  const child = spawn('perl', ['-e', program], { stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = (await Array.fromAsync(linesOf(child))).flat()
  expect(lines.map(({ length }) => length)).toEqual([5, lineLengthMax, 2])
  expect([lines[0], lines[2]]).toEqual(['first', 'bc'])
})

describe('debugfs that cannot be started', () => {
  let folder: string
  let file: string
  let disk: FileHandle
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dock-debugfs-'))
    file = join(folder, 'disk')
    await writeFile(file, 'x')
    disk = await open(file)
  })
  afterEach(async () => {
    vi.unstubAllEnvs()
    await disk.close()
    await rm(folder, { recursive: true })
  })

  it('rejects every caller', async () => {
    vi.stubEnv('PATH', '/nowhere')
    const uncaught = await uncaughtDuring(async () => {
      const callers = [
        Array.fromAsync(walkTree(file)),
        readDiskFile(file, '/etc/hosts'),
        openDebugfsSession(disk, () => undefined).ask('show_super_stats -h', () => undefined),
      ]
      for (const outcome of await Promise.allSettled(callers))
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'ENOENT' } })
    })
    expect(uncaught).toEqual([])
  })

  it('rejects a caller that asks after its end, and ends without one', async () => {
    vi.stubEnv('PATH', '/nowhere')
    const uncaught = await uncaughtDuring(async () => {
      const ended = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
      const [asked, unasked] = ended.map(({ resolve }) => openDebugfsSession(disk, resolve))
      await Promise.all(ended.map(({ promise }) => promise))
      await expect(asked?.ask('show_super_stats -h', () => undefined)).rejects.toThrow('ENOENT')
      for (const session of [asked, unasked]) session?.end()
    })
    expect(uncaught).toEqual([])
  })

  it('for want of descriptors throws', async () => {
    const outcome = await runWithFewDescriptors(`
      import { open } from 'node:fs/promises'
      const { startDebugfs } = await import('${new URL('./debugfs-process.ts', import.meta.url)}')
      const disk = await open('${file}')
      openAll()
      try { startDebugfs(disk, []) } catch (error) { console.log(error.message) }
      setTimeout(() => console.log('alive'), 100)`)
    expect(outcome).toEqual({ code: 0, printed: 'debugfs could not be started\nalive\n' })
  })
})
