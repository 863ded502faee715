import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readSandboxState } from './sandbox-state.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-state-'))
})
afterEach(() => rm(folder, { recursive: true }))

const state = JSON.stringify({ goferPid: 7, sandbox: { pid: 8, controlSocketPath: '/run/x.sock' } })
const save = (text: string) => writeFile(join(folder, 'one_sandbox:one.state'), text)

it('reads the pids and the control socket, and knows nothing of another sandbox', async () => {
  await save(state)
  expect(await readSandboxState(folder, 'one')).toEqual({ pid: 8, goferPid: 7, controlSocket: '/run/x.sock' })
  expect(await readSandboxState(folder, 'two')).toEqual({ pid: 0, goferPid: 0, controlSocket: undefined })
})

it('waits until runsc has written the whole file', async () => {
  await save('')
  const read = readSandboxState(folder, 'one')
  await save(state.slice(0, 20))
  await save(state)
  expect((await read).pid).toBe(8)
})

it('names a file that stays incomplete', async () => {
  await save(state.slice(0, 20))
  await expect(readSandboxState(folder, 'one')).rejects.toThrow(
    'one_sandbox:one.state is not a state of runsc',
  )
})
