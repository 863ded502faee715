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
const setup = (operationId = 'op_1', generation = 1) =>
  dock().setup({ operationId, generation, script: 'echo $SECRET', timeoutMs: 60_000 })

test('runs the script as the Dock user, not as an argument, and returns the last lines of its log', async () => {
  expect(await setup()).toEqual({ exitCode: 0, output: 'out\n', timedOut: false })
  const [ran, finished] = host.driver.executed
  expect(ran).toMatchObject({ uid: 1000, input: 'echo $SECRET' })
  expect(JSON.stringify(ran?.argv)).not.toContain('SECRET')
  expect(finished).toMatchObject({ uid: 0, argv: expect.arrayContaining(['4096']) })
})

test('joins a repetition during the run and returns the same result afterwards; another script is busy', async () => {
  const release = host.driver.hold('exec')
  const both = Promise.all([setup(), setup()])
  await expect(setup('op_2')).rejects.toMatchObject({ code: 'busy' })
  release()
  const [first, second] = await both
  expect(second).toEqual(first)
  expect(await setup()).toEqual(first)
  expect(host.driver.executed).toHaveLength(2)
})

test('is not run again by the next agent', async () => {
  const first = await setup()
  host.agent = await host.startAgent()
  expect(await setup()).toEqual(first)
  expect(host.driver.executed).toHaveLength(2)
})

test('waits for a script that an agent which died had started', async () => {
  const release = host.driver.hold('execEnd')
  setup().catch(() => undefined)
  const file = join(host.handlesFolder, `${dockId}.json`)
  await expect.poll(() => readFile(file, 'utf8')).toContain('mark-1')
  host.agent = await host.startAgent()
  const again = setup()
  await expect.poll(() => host.driver.rejoined).toHaveLength(1)
  release()
  expect(await again).toMatchObject({ exitCode: 0, output: 'out\n' })
  expect(host.driver.executed.map(({ uid }) => uid)).toEqual([1000, 0])
})

test('ends a script of an earlier agent when its timeout, counted from its start, is over', async () => {
  const release = host.driver.hold('execEnd')
  setup().catch(() => undefined)
  const file = join(host.handlesFolder, `${dockId}.json`)
  await expect.poll(() => readFile(file, 'utf8')).toContain('mark-1')
  await host.clock.advanceInSteps(40_000)
  host.agent = await host.startAgent()
  release()
  host.driver.hold('waitForExec')
  const again = setup()
  await expect.poll(() => host.driver.rejoined).toHaveLength(1)
  await host.clock.advanceInSteps(19_999)
  expect(host.driver.ended).toEqual([])
  await host.clock.advanceInSteps(1)
  expect(host.driver.ended).toMatchObject([{ mark: 'mark-1' }])
  expect(await again).toMatchObject({ timedOut: true, output: 'out\n' })
  expect(await setup()).toEqual(await again)
})

test('fails with not_running if its Dock ends, or if the Dock does not run', async () => {
  host.driver.hold('execEnd')
  const running = setup()
  await expect.poll(() => host.driver.executed.length).toBe(1)
  host.driver.kill(dockId)
  await expect(running).rejects.toMatchObject({ code: 'not_running' })
  await expect(setup('op_2')).rejects.toMatchObject({ code: 'not_running' })
})

test('fails with not_running if its Dock is stopped, whatever its exit code', async () => {
  const release = host.driver.hold('execEnd')
  const running = setup()
  const outcome = expect(running).rejects.toMatchObject({ code: 'not_running' })
  await expect.poll(() => host.driver.executed.length).toBe(1)
  const stopped = dock().stop({ operationId: 'op_stop', generation: 1, captureId: newUuid() })
  // The first command of the stop: from here on the Dock is ending.
  await expect.poll(() => host.driver.executed.length).toBe(2)
  release()
  await outcome
  expect(await stopped).toMatchObject({ capture: expect.anything() })
})

test('returns only whole lines of a long log', async () => {
  const { exec } = host.driver
  host.driver.exec = async (handle, request) => {
    const result = await exec(handle, request)
    const isFinish = request.uid === 0
    return isFinish ? { ...result, stdout: Buffer.from(log) } : result
  }
  let log = `half a secret\nthe end\n`.padStart(4096, 'x')
  expect((await setup()).output).toBe('the end\n')
  log = 'x'.repeat(4096)
  expect((await setup('op_2')).output).toBe('')
})
