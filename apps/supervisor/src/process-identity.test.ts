import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endProcess, identify, isAlive, readPidFile, writePidFile } from './process-identity.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-pid-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('a pid file', () => {
  it('finds the process it was written for, until that ends', async () => {
    const child = spawn('sleep', ['60'])
    const identity = (await identify(child.pid!))!
    const path = join(folder, 'child.pid')
    await writePidFile(path, identity)
    expect(await readPidFile(path)).toEqual(identity)
    await endProcess(identity, 2_000)
    expect(await isAlive(identity)).toBe(false)
    expect(await readPidFile(path)).toBeUndefined()
  })

  it('ignores another process that has the same pid', async () => {
    const path = join(folder, 'child.pid')
    await writePidFile(path, { ...(await identify(process.pid))!, startTicks: '1' })
    expect(await readPidFile(path)).toBeUndefined()
  })

  it('returns undefined for a damaged file', async () => {
    const path = join(folder, 'child.pid')
    await writeFile(path, '{"pid":')
    expect(await readPidFile(path)).toBeUndefined()
  })
})

describe('endProcess', () => {
  it('kills a process that ignores the signal', async () => {
    const child = spawn('bash', ['-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'])
    await new Promise((resolve) => child.stdout.once('data', resolve))
    const identity = (await identify(child.pid!))!
    await endProcess(identity, 50)
    expect(await isAlive(identity)).toBe(false)
  })
})
