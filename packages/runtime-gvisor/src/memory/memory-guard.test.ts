/** Needs root, DOCK_TEST_RUNSC and DOCK_TEST_ROOTFS: real sandboxes that run out of memory. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, newUuid, runCommand, tryCommand } from '@dock/foundation'
import type { ExecRequest, OutOfMemory, SandboxHandle, SandboxSpec } from '@dock/runtime'
import { placeLauncher } from '@dock/testkit/src/runtime/place-launcher.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGvisorDriver } from '../create-gvisor-driver.ts'

const runsc = process.env.DOCK_TEST_RUNSC
const rootfs = process.env.DOCK_TEST_ROOTFS
const memoryMiB = 256

const request = (script: string): ExecRequest => ({
  ...{ argv: ['/bin/bash', '-c', script], env: {}, cwd: '/', uid: 0, gid: 0 },
  ...{ timeoutMs: 20_000, outputLimitBytes: 4000 },
})

/**
 * Each takes a MiB, waits 5 ms, and takes the next. A program that takes memory as fast as it can races the guard, which
 * loses now and then on a busy machine: script/prove memory counts that race, this test shows what the guard does.
 */
const pause = 'select undef, undef, undef, 0.005'
const hogs = {
  'a process that grows': `perl -e 'while (1) { $_ .= "x" x (1 << 20); ${pause} }'`,
  'a pipeline': `perl -e '$| = 1; while (1) { print "\\0" x (1 << 20); ${pause} }' | tail`,
  'a file in memory': `perl -e '$n = "h"; $f = syscall(319, $n, 0); $p = "x" x (1 << 20);
    open(H, ">&=", $f); while (1) { syswrite(H, $p) or die $!; ${pause} }'`,
}

describe.skipIf(!runsc || !rootfs)('a sandbox that runs out of memory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dock-memory-'))
  const netns = `dockm${process.pid}`
  const events: OutOfMemory[] = []
  const places = {
    ...{ runscPath: join(folder, 'runsc'), rootDir: join(folder, 'root') },
    stateDir: join(folder, 'state'),
  }
  const makeDriver = (controlSocket = true) => {
    const made = createGvisorDriver({ ...places, controlSocket, logger: createLogger('test') })
    made.capabilities.watchMemory((event) => events.push(event))
    return made
  }
  /** Starts a sandbox in a process that ends afterwards, as an agent that is killed. */
  const startElsewhere = async (of: SandboxSpec): Promise<SandboxHandle> => {
    const program = `
      import { createLogger } from '@dock/foundation'
      import { createGvisorDriver } from '${new URL('../create-gvisor-driver.ts', import.meta.url)}'
      const options = { ...${JSON.stringify(places)}, logger: createLogger('test') }
      const handle = await createGvisorDriver(options).start(${JSON.stringify(of)})
      process.stdout.write(JSON.stringify(handle), () => process.kill(process.pid, 'SIGKILL'))`
    const { stdout, stderr } = await tryCommand(process.execPath, ['--input-type=module', '-e', program])
    if (!stdout) throw new Error(`the sandbox did not start: ${stderr}`)
    return JSON.parse(stdout)
  }
  let driver: ReturnType<typeof createGvisorDriver>
  let spec: SandboxSpec
  let handle: SandboxHandle

  beforeAll(async () => {
    placeLauncher(runsc!, join(folder, 'runsc'))
    const rootPath = join(folder, 'rootfs')
    await runCommand('cp', ['-a', rootfs!, rootPath])
    await runCommand('ip', ['netns', 'add', netns])
    driver = makeDriver()
    spec = {
      ...{ dockId: newUuid(), generation: 1, hostname: 'memory-test', cpus: 2, memoryMiB },
      ...{ disk: { mount: rootPath }, netnsPath: `/run/netns/${netns}`, nameserver: '192.0.2.1' },
    }
    handle = await driver.start(spec)
  })
  afterAll(async () => {
    await driver.destroy(handle)
    await runCommand('ip', ['netns', 'delete', netns])
    rmSync(folder, { recursive: true, force: true })
  })

  test.each(Object.entries(hogs))('survives %s, whose command exits with 137', async (_name, script) => {
    await driver.exec(handle, request('setsid sleep 7777 >/dev/null 2>&1 &'))
    const before = events.length
    const { exitCode, killedForMemory } = await driver.exec(handle, request(script))
    expect({ exitCode, killedForMemory }).toMatchObject({
      exitCode: 137,
      killedForMemory: expect.arrayContaining([expect.stringMatching(/perl|tail|bash/)]),
    })
    expect(await driver.recover(handle)).toBe('running')
    expect((await driver.exec(handle, request('pgrep -fx "sleep 7777"; pkill sleep'))).exitCode).toBe(0)
    expect(events[before]).toMatchObject({ dockId: spec.dockId, generation: 1, process: expect.any(String) })
  })

  test('ends the hog, but none of many processes that do not grow', async () => {
    const many = 'for i in {1..160}; do setsid sleep 7777 >/dev/null 2>&1 & done'
    await driver.exec(
      handle,
      request(`${many}; until [ $(pgrep -cfx "sleep 7777") = 160 ]; do sleep 0.1; done`),
    )
    const before = events.length
    const { exitCode } = await driver.exec(handle, request(hogs['a process that grows']))
    expect(exitCode).toBe(137)
    expect(new Set(events.slice(before).map(({ process }) => process))).toEqual(new Set(['perl']))
    const left = await driver.exec(handle, request('pgrep -cfx "sleep 7777"; pkill sleep'))
    expect(left.stdout.toString().trim()).toBe('160')
  })

  test('is guarded again by the next agent', async () => {
    await driver.destroy(handle)
    handle = await startElsewhere({ ...spec, generation: 2 })
    driver = makeDriver()
    expect(await driver.recover(handle)).toBe('running')
    const { exitCode } = await driver.exec(handle, request(hogs['a process that grows']))
    expect(exitCode).toBe(137)
  })

  test('a command without an ended process reports no shortage', async () => {
    expect(await driver.exec(handle, request('exit 137'))).toMatchObject({
      exitCode: 137,
      killedForMemory: [],
    })
  })

  test('reports the same for a command that runs with runsc exec', async () => {
    await driver.destroy(handle)
    driver = makeDriver(false)
    handle = await driver.start({ ...spec, generation: 3 })
    expect(await driver.exec(handle, request(hogs['a process that grows']))).toMatchObject({
      exitCode: 137,
      killedForMemory: ['perl'],
    })
    expect(await driver.exec(handle, request('exit 137'))).toMatchObject({
      exitCode: 137,
      killedForMemory: [],
    })
  })
})
