import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-faults-'))
  for (const name of ['armed', 'hit']) await mkdir(join(folder, name))
})
afterEach(() => rm(folder, { recursive: true }))

/** Starts a process that passes the fault points `a`, `b`, `b`. */
const walker = (environment: NodeJS.ProcessEnv) => {
  const module = JSON.stringify(join(import.meta.dirname, 'fault-point.ts'))
  const code = `import(${module}).then(({ faultPoint }) => { for (const name of ['a', 'b', 'b']) faultPoint(name) })`
  const child = spawn(process.execPath, ['-e', code], { env: environment, stdio: 'ignore' })
  return { pid: child.pid!, ended: new Promise((resolve) => child.once('exit', resolve)) }
}

const stateOf = async (pid: number): Promise<string> =>
  (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]![0]!

it('stops the process once at an armed point', async () => {
  await writeFile(join(folder, 'armed/b'), '')
  await writeFile(join(folder, 'trace'), '')
  const { pid, ended } = walker({ DOCK_FAULTS: folder })
  await expect.poll(() => stateOf(pid), { timeout: 60_000 }).toBe('T')
  expect(existsSync(join(folder, 'hit/b'))).toBe(true)
  expect(await readFile(join(folder, 'trace'), 'utf8')).toBe('a\nb\n')
  process.kill(pid, 'SIGCONT')
  expect(await ended).toBe(0)
  expect(await readFile(join(folder, 'trace'), 'utf8')).toBe('a\nb\nb\n')
})

it('does nothing at points that are not armed', async () => {
  expect(await walker({}).ended).toBe(0)
  expect(await walker({ DOCK_FAULTS: folder }).ended).toBe(0)
})

it('throws the named error after the given number of passes', async () => {
  await writeFile(join(folder, 'armed/b'), 'EIO 1')
  await writeFile(join(folder, 'trace'), '')
  expect(await walker({ DOCK_FAULTS: folder }).ended).not.toBe(0)
  expect(await readFile(join(folder, 'trace'), 'utf8')).toBe('a\nb\nb\n')
})
