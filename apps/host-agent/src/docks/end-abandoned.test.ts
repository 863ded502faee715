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

const dock = () => host.agent.docks.commandable(dockId)
const exec = (command: string) =>
  dock().exec({
    ...{ generation: 1, command, env: {}, cwd: '/home/user', timeoutMs: 60_000, outputLimitBytes: 1024 },
  })

/** A command that has begun, whose agent dies, and the next agent. */
const abandon = async (): Promise<void> => {
  exec('sleep 1000').catch(() => undefined)
  await expect.poll(() => host.driver.executed).toHaveLength(1)
  host.agent = await host.startAgent()
}

test('a command of an agent that died is ended by the next one, and its Dock takes others', async () => {
  await abandon()
  await expect.poll(() => host.driver.ended).toMatchObject([{ mark: 'mark-1' }])
  expect(await exec('true')).toMatchObject({ exitCode: 0 })
})

test('a new command begins when what was abandoned has ended', async () => {
  const look = host.driver.hold('abandonedExecs')
  await abandon()
  const answer = exec('true')
  await host.clock.pass(1_000)
  expect(host.driver.executed).toHaveLength(1)
  look()
  await answer
  expect(host.driver.ended).toHaveLength(1)
})

test('a new command does not wait for ever for an end that does not come', async () => {
  host.driver.hold('abandonedExecs')
  await abandon()
  const answer = exec('true')
  await host.clock.pass(30_000)
  expect(await answer).toMatchObject({ exitCode: 0 })
})

test('an ending that fails is tried again', async () => {
  host.driver.failNext('abandonedExecs', new Error('no answer'))
  await abandon()
  await expect.poll(() => host.clock.pass(1_000).then(() => host.driver.ended)).toHaveLength(1)
})

test('a sandbox that the guard holds is left alone until it goes on', async () => {
  host.disks.setFree(0)
  await abandon()
  const endWatch = host.agent.watch()
  await host.clock.pass(60_000)
  expect(host.driver.ended).toEqual([])
  host.disks.setFree(Number.MAX_SAFE_INTEGER)
  await expect.poll(() => host.clock.pass(1_000).then(() => host.driver.ended)).toHaveLength(1)
  endWatch()
})

test('a setup script goes on to be joined', async () => {
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
