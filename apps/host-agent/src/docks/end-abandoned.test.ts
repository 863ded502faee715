import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let dockId: string
beforeEach(async () => {
  host = await createMemoryHost()
  dockId = newUuid()
  await dock().start(startCommand())
})
afterEach(() => host.remove())

const dock = () => host.agent.docks.getForCommand(dockId)
const exec = (command: string) =>
  dock().exec({
    ...{ generation: 1, command, env: {}, cwd: '/home/user', timeoutMs: 60_000, outputLimitBytes: 1024 },
  })

/** Starts a command, ends its agent, and starts the next agent. */
const abandon = async (): Promise<void> => {
  exec('sleep 1000').catch(() => undefined)
  await expect.poll(() => host.driver.executed).toHaveLength(1)
  // Otherwise the Dock counts as idle, and freezes before the next agent has ended the command.
  host.driver.setProcesses(dockId, ['sleep'])
  host.agent = await host.startAgent()
}

test('the next agent ends the command of an agent that died, and its Dock accepts new commands', async () => {
  await abandon()
  await expect.poll(() => host.driver.ended).toMatchObject([{ mark: 'mark-1' }])
  expect(await exec('true')).toMatchObject({ exitCode: 0 })
})

test('a new command begins when the abandoned one has ended', async () => {
  const look = host.driver.hold('abandonedExecs')
  await abandon()
  const answer = exec('true')
  await host.clock.advanceInSteps(1_000)
  expect(host.driver.executed).toHaveLength(1)
  look()
  await answer
  expect(host.driver.ended).toHaveLength(1)
})

test('a new command waits only a limited time for the abandoned one to end', async () => {
  host.driver.hold('abandonedExecs')
  await abandon()
  const answer = exec('true')
  await host.clock.advanceInSteps(30_000)
  expect(await answer).toMatchObject({ exitCode: 0 })
})

test('retries if ending the abandoned command fails', async () => {
  host.driver.failNext('abandonedExecs', new Error('no answer'))
  await abandon()
  await expect.poll(() => host.clock.advanceInSteps(1_000).then(() => host.driver.ended)).toHaveLength(1)
})

test('leaves a sandbox alone while the pool guard freezes it', async () => {
  host.disks.setFree(0)
  await abandon()
  const endWatch = host.agent.watch()
  await host.clock.advanceInSteps(60_000)
  expect(host.driver.ended).toEqual([])
  host.disks.setFree(Number.MAX_SAFE_INTEGER)
  await expect.poll(() => host.clock.advanceInSteps(1_000).then(() => host.driver.ended)).toHaveLength(1)
  endWatch()
})

test('a program on a pseudo-terminal is hung up, and is not ended with its background processes', async () => {
  const file = join(host.handlesFolder, 'hung')
  const script = `trap 'echo hung >${file}; exit' HUP; echo ready; while :; do sleep 0.05; done`
  const request = {
    generation: 1,
    argv: ['/bin/bash', '-c', script] as [string, ...string[]],
    env: {},
    cwd: '/tmp',
  }
  const { opened } = await dock().openProcess(newUuid(), { ...request, pty: { cols: 80, rows: 24 } }, {})
  await once(opened.stdout!, 'data')
  opened.stdout!.resume()
  host.driver.setProcesses(dockId, ['script'])
  host.agent = await host.startAgent()
  await expect.poll(() => readFile(file, 'utf8').catch(() => ''), { timeout: 60_000 }).toBe('hung\n')
  expect(host.driver.ended).toEqual([])
})

test('a setup script runs on and is rejoined', async () => {
  const release = host.driver.hold('execEnd')
  const request = { operationId: 'op_1', generation: 1, script: 'true', timeoutMs: 60_000 }
  dock()
    .setup(request)
    .catch(() => undefined)
  const file = join(host.handlesFolder, `${dockId}.json`)
  await expect.poll(() => readFile(file, 'utf8')).toContain('mark-1')
  host.agent = await host.startAgent()
  const again = dock().setup(request)
  release()
  expect(await again).toMatchObject({ timedOut: false })
  expect(host.driver.ended).toEqual([])
})
