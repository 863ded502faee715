import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeSandbox } from './remove-sandbox.ts'
import type { Runsc } from './runsc.ts'

const id = 'dock-1'
/** No process has this number. */
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

/** A runsc whose first `kills` deletes are killed before they have done anything. */
const runscKilled = (kills: number): Runsc => {
  let calls = 0
  return {
    ...{ path: 'runsc', rootDir, args: (...args) => args },
    run: async () => {
      calls += 1
      if (calls <= kills) return { code: 128, stdout: '', stderr: ' (SIGKILL)' }
      rmSync(stateFile())
      return { code: 0, stdout: '', stderr: '' }
    },
  }
}

test('a delete that was killed is tried again', async () => {
  await removeSandbox(runscKilled(1), [], id, folder)
  expect([existsSync(folder), existsSync(stateFile())]).toEqual([false, false])
})

test('one that never comes through is told, and leaves what a later removal finds it by', async () => {
  await expect(removeSandbox(runscKilled(100), [], id, folder)).rejects.toThrow(/SIGKILL/)
  expect([existsSync(folder), existsSync(stateFile())]).toEqual([true, true])
})
