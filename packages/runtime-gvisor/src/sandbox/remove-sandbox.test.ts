import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { CgroupMount } from '../cgroup/sandbox-cgroup.ts'
import type { Runsc } from '../runsc/runsc.ts'
import { removeSandbox } from './remove-sandbox.ts'

const id = 'dock-1'
/** Larger than any pid. */
const deadPid = 2 ** 30

let rootDir: string
let folder: string
beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'dock-remove-'))
  folder = join(rootDir, 'bundle')
  mkdirSync(folder)
  writeFileSync(stateFile(), JSON.stringify({ sandbox: { pid: deadPid } }))
})
afterEach(() => rmSync(rootDir, { recursive: true }))

const stateFile = (): string => join(rootDir, `${id}_sandbox:${id}.state`)

/** A fake runsc whose first `kills` deletes are killed before they take effect. */
const runscKilled = (kills: number): Runsc => {
  let calls = 0
  const runsc: Runsc = {
    ...{ path: 'runsc', rootDir, args: (...args) => args, bootArgs: async (...args) => args },
    run: async () => {
      calls += 1
      if (calls <= kills) return { code: 128, stdout: '', stderr: ' (SIGKILL)' }
      rmSync(stateFile())
      return { code: 0, stdout: '', stderr: '' }
    },
    at: () => runsc,
    offline: () => runsc,
  }
  return runsc
}

test('a killed delete is retried', async () => {
  await removeSandbox(runscKilled(1), [], id, folder)
  expect([existsSync(folder), existsSync(stateFile())]).toEqual([false, false])
})

test('a delete that always fails throws, and keeps the files that a later removal needs', async () => {
  await expect(removeSandbox(runscKilled(100), [], id, folder)).rejects.toThrow(/SIGKILL/)
  expect([existsSync(folder), existsSync(stateFile())]).toEqual([true, true])
})

test('a frozen sandbox is thawed only after it was killed', async () => {
  const group = join(rootDir, 'freezer', 'dock', id)
  mkdirSync(group, { recursive: true })
  const state = join(group, 'freezer.state')
  writeFileSync(state, 'FROZEN')
  const freezer: CgroupMount = {
    ...{ version: 1, controllers: ['freezer'], root: '/', path: join(rootDir, 'freezer') },
  }
  const sandbox = spawn('sleep', ['60'], { argv0: id })
  await once(sandbox, 'spawn')
  writeFileSync(stateFile(), JSON.stringify({ sandbox: { pid: sandbox.pid } }))

  const stateAtKill: string[] = []
  const kill = process.kill.bind(process)
  const killing = vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    stateAtKill.push(readFileSync(state, 'utf8'))
    return kill(pid, signal)
  })
  onTestFinished(() => {
    killing.mockRestore()
    sandbox.kill('SIGKILL')
  })
  await removeSandbox(runscKilled(0), [freezer], id, folder)
  expect(stateAtKill).toEqual(['FROZEN'])
  expect(readFileSync(state, 'utf8')).toBe('THAWED')
})
